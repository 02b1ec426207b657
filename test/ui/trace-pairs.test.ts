/** Two traces become one tree by the names and the order of their spans. */
import { expect, test } from 'vitest'
import { pairsOf } from '../../src/ui/page/trace-pairs.ts'
import { treeOf } from '../../src/ui/page/trace-tree.ts'
import type { TraceSpan } from '../../src/ui/service/trace-span.ts'

/** `a > b` is a span `b` below `a`; spans begin in the order in which they are written. */
function tree(side: string, ...paths: string[]) {
  const spans = paths.map((path, start): TraceSpan => {
    const names = path.split(' > ')
    const spanId = `${side} ${path}`
    const parents = names.length > 1 ? [`${side} ${names.slice(0, -1).join(' > ')}`] : []
    const name = names.at(-1)!.replace(/\d$/, '')
    return {
      ...{ id: spanId, spanId, parents, name, type: 'task', start, end: start + 1 },
      ...{ duration: 1, hasFailed: false, scores: [], isRepeated: false, tokens: 0, cost: 0 },
      ...{ model: undefined, firstToken: undefined },
    }
  })
  return treeOf(spans)
}

const told = (lines: ReturnType<typeof pairsOf>) =>
  lines.map(({ before, after, depth }) => {
    const side = before && after ? '=' : before ? '-' : '+'
    return `${'  '.repeat(depth)}${side} ${(before ?? after)!.name}`
  })

test('spans of a name go together in their order, and others stand where they came', () => {
  const before = tree('a', 'run', 'run > find1', 'run > ask', 'run > find2', 'run > find2 > read')
  const after = tree('b', 'run', 'run > plan', 'run > find1', 'run > plan > think', 'run > retry')
  expect(told(pairsOf(before, after))).toEqual([
    '= run',
    '  + plan',
    '    + think',
    '  = find',
    '  + retry',
    '  - ask',
    '  - find',
    '    - read',
  ])
})

test('roots go together whatever they are called, and a trace without spans has no partner', () => {
  expect(told(pairsOf(tree('a', 'old'), tree('b', 'new')))).toEqual(['= old'])
  expect(told(pairsOf(tree('a', 'one'), tree('b')))).toEqual(['- one'])
})
