import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repeatedUsage, type UsageSpan } from '../../src/function/repeated-usage.ts'

type Kind = 'call' | 'tool' | 'other'

/** A span of a trace in which spans are told apart by their places. */
function span(
  place: number,
  parents: readonly number[],
  { kind = 'other', reports = true, isScorer = false }: Partial<Traits> = {},
): UsageSpan {
  const [isCall, isTool] = [kind === 'call', kind === 'tool']
  return { span: place, parents, reports, isCall, isTool, isScorer }
}

interface Traits {
  readonly kind: Kind
  readonly reports: boolean
  readonly isScorer: boolean
}

describe('the usage of a trace', () => {
  it('is not that of an agent whose calls report it', () => {
    const trace = [span(0, []), span(1, [0], { kind: 'call' }), span(2, [0], { kind: 'call' })]
    expect(repeatedUsage(trace)).toEqual([0])
  })

  it('is that of an agent whose calls report nothing, or have not come', () => {
    expect(repeatedUsage([span(0, [])])).toEqual([])
    expect(repeatedUsage([span(0, []), span(1, [0], { reports: false })])).toEqual([])
  })

  it('is found through spans that report nothing, in whatever order spans come', () => {
    const trace = [span(2, [1], { kind: 'call' }), span(1, [0], { reports: false }), span(0, [])]
    expect(repeatedUsage(trace)).toEqual([2])
  })

  it('is not that of agents of agents', () => {
    const trace = [span(0, []), span(1, [0]), span(2, [1], { kind: 'call' }), span(3, [0])]
    expect(repeatedUsage(trace)).toEqual([0, 1])
  })

  it('is not that of a call whose client reports it again', () => {
    const trace = [span(0, [], { kind: 'call' }), span(1, [0], { kind: 'call' })]
    expect(repeatedUsage(trace)).toEqual([0])
  })

  it('is that of a call beside those of its tools, which are the agent’s', () => {
    const trace = [
      span(0, []),
      span(1, [0], { kind: 'call' }),
      span(2, [1], { kind: 'tool', reports: false }),
      span(3, [2], { kind: 'call' }),
    ]
    expect(repeatedUsage(trace)).toEqual([0])
  })

  it('is that of an agent beside what scores it, and not of a scorer’s own agent', () => {
    const judge = { isScorer: true }
    const trace = [span(0, []), span(1, [0], judge), span(2, [1], { kind: 'call', ...judge })]
    expect(repeatedUsage(trace)).toEqual([1])
  })

  it('is found where spans have several parents, are their own, or go round', () => {
    const trace = [span(0, []), span(1, []), span(2, [0, 1], { kind: 'call' }), span(3, [3])]
    expect(repeatedUsage(trace)).toEqual([0, 1])
    expect(repeatedUsage([span(0, [1]), span(1, [0])])).toEqual([0, 1])
  })

  it('is repeated by a span from which a path leads down to one that reports it', () => {
    const traits = fc.record<Traits>({
      kind: fc.constantFrom('call', 'tool', 'other'),
      reports: fc.boolean(),
      isScorer: fc.boolean(),
    })
    const node = fc.tuple(fc.uniqueArray(fc.nat(6), { maxLength: 2 }), traits)
    fc.assert(
      fc.property(fc.array(node, { maxLength: 7 }), (nodes) => {
        const trace = nodes.map(([parents, of], place) => span(place, parents, of))
        const expected = trace.flatMap((top, place) => (isRepeated(top, trace) ? [place] : []))
        expect(repeatedUsage(trace)).toEqual(expected)
      }),
    )
  })
})

/** The law, by all paths. */
function isRepeated(top: UsageSpan, trace: readonly UsageSpan[]): boolean {
  const isFound = (path: readonly UsageSpan[]): boolean =>
    trace.some((next) => {
      if (path.includes(next) || !next.parents.includes(path.at(-1)!.span)) return false
      if (top.isCall && next.isTool) return false
      const counts = next.reports && (!next.isScorer || path.every(({ isScorer }) => isScorer))
      return counts || isFound([...path, next])
    })
  return top.reports && isFound([top])
}
