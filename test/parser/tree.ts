import { printAst } from '../../src/parser/print-ast.ts'

/** A syntax tree on one line, children in brackets: `and[path a, not[path b]]`. */
export function tree(node: Parameters<typeof printAst>[0]): string {
  const lines = printAst(node).split('\n')
  const depthOf = (i: number): number => (lines[i] ?? '').search(/\S|$/) / 2
  let text = ''
  for (let i = 0; i < lines.length; i++) {
    text += lines[i]!.trim()
    const next = i + 1 < lines.length ? depthOf(i + 1) : 0
    const step = next - depthOf(i)
    if (step > 0) text += '['
    else text += ']'.repeat(-step) + (i + 1 < lines.length ? ', ' : '')
  }
  return text
}
