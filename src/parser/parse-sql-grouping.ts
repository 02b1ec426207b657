/** Reads what SQL says of several groupings at once: `ROLLUP (…)`, `GROUPING SETS (…)`, `WITH CUBE`. */
import type { Expression, Projection } from './ast.ts'
import { readNested } from './parse-expression.ts'
import { readList, readProjection } from './parse-projection.ts'
import type { TokenStream } from './token-stream.ts'

/** The keys of a GROUP BY. Those of several groupings are calls of `rollup`, `cube`, `grouping_sets`. */
export function readGroupKeys(tokens: TokenStream): readonly Projection[] {
  const { start } = tokens.current
  const keys = readList(tokens, () => readGroupKey(tokens))
  const level = tokens.peek(1).keyword
  if (!tokens.is('with') || (level !== 'rollup' && level !== 'cube')) return keys
  tokens.advance()
  tokens.advance()
  const items = keys.map(({ expression }) => expression)
  return [callOf(tokens, level, items, start)]
}

function readGroupKey(tokens: TokenStream): Projection {
  const { start } = tokens.current
  if (!tokens.is('grouping') || tokens.peek(1).keyword !== 'sets') return readProjection(tokens)
  tokens.advance()
  tokens.advance()
  tokens.expect('(', 'and the sets after GROUPING SETS')
  tokens.enter()
  const sets = readList(tokens, () => readSet(tokens))
  tokens.leave()
  tokens.expect(')', 'to close the grouping sets')
  return callOf(tokens, 'grouping_sets', sets, start)
}

/** `(a, b)`, `()`, or one key without parentheses. */
function readSet(tokens: TokenStream): Expression {
  const { start } = tokens.current
  if (!tokens.accept('(')) return readNested(tokens)
  const items: Expression[] = []
  while (!tokens.is(')')) {
    items.push(readNested(tokens))
    if (!tokens.accept(',')) break
  }
  tokens.expect(')', 'to close the grouping set')
  return { kind: 'array', items, span: tokens.spanFrom(start) }
}

function callOf(
  tokens: TokenStream,
  name: string,
  items: readonly Expression[],
  start: number,
): Projection {
  const span = tokens.spanFrom(start)
  const expression: Expression = {
    kind: 'call',
    name,
    nameSpan: span,
    arguments: items,
    distinct: false,
    filter: undefined,
    span,
  }
  return { expression, alias: undefined, span }
}
