/** Costs count once whatever is known of segments: the answer is that of all spans, trace by trace. */
import { expect, it } from 'vitest'
import { repeatedUsage } from '../../src/function/repeated-usage.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { openLogs } from '../support/temporary-logs.ts'

interface Span {
  readonly id: string
  readonly span_id: string
  readonly root_span_id: string
  readonly span_parents: readonly string[]
  readonly metrics: { readonly estimated_cost?: number }
}

/** As many as make threads number the traces alike. */
const traceCount = 17_000

const query = 'measures: sum(estimated_cost()) as cost'

/** An agent, which may have spent something itself, and the calls below it. */
function spansOf(trace: number, agentCost: number, callCount: number): Span[] {
  const root = { root_span_id: `t${trace}` }
  const agent = `t${trace} agent`
  const spent = agentCost > 0 ? { estimated_cost: agentCost } : {}
  return [
    { id: agent, span_id: agent, ...root, span_parents: [], metrics: spent },
    ...Array.from({ length: callCount }, (_, call) => {
      const id = `t${trace} call ${call}`
      return { id, span_id: id, ...root, span_parents: [agent], metrics: { estimated_cost: 2 } }
    }),
  ]
}

/** The cost of all spans that do not repeat what others say. */
function costOf(spans: Iterable<Span>): number {
  const traces = new Map<string, Span[]>()
  for (const span of spans) {
    const trace = traces.get(span.root_span_id)
    if (trace) trace.push(span)
    else traces.set(span.root_span_id, [span])
  }
  let cost = 0
  for (const trace of traces.values()) {
    const numbers = new Map(trace.map(({ span_id }, i) => [span_id, i]))
    const repeating = new Set(
      repeatedUsage(
        trace.map(({ span_id, span_parents, metrics }) => ({
          span: numbers.get(span_id)!,
          parents: span_parents.flatMap((parent) => numbers.get(parent) ?? []),
          reports: (metrics.estimated_cost ?? 0) > 0,
          isCall: false,
          isTool: false,
          isScorer: false,
        })),
      ),
    )
    for (const [i, { metrics }] of trace.entries()) {
      if (!repeating.has(i)) cost += metrics.estimated_cost ?? 0
    }
  }
  return cost
}

async function storedLogs() {
  const logs = await openLogs(10_000)
  const stored = new Map<string, Span>()
  const write = async (spans: readonly Span[]) => {
    await logs.insert(spans)
    for (const span of spans) stored.set(span.id, span)
  }
  return { ...logs, stored, write }
}

it('costs of calls alone are added up without a look at their ids', async () => {
  const { engine, stored, write, answer, progressOf } = await storedLogs()
  await write(Array.from({ length: traceCount }, (_, n) => spansOf(n, 0, 1)).flat())
  await engine.flush()
  expect(await answer(query)).toEqual([{ cost: costOf(stored.values()) }])
  // Those of the few traces that the end of a segment has cut are read twice.
  expect((await progressOf(query))!.rowsRead).toBeLessThan(stored.size * 1.5)
})

it.each([1, 2, 3])('spans of a trace may come at any time, in any order: %i', async (seed) => {
  const choice = new RandomChoice(seed)
  const { engine, stored, write, insert, answer } = await storedLogs()
  const early: Span[] = []
  const late: Span[] = []
  for (let n = 0; n < traceCount; n++) {
    // In one test no segment has a span that reports usage and its child.
    const hasSpent = seed > 1 && choice.below(1000) === 0
    const isLate = choice.below(100) === 0
    const [agent, ...calls] = spansOf(n, hasSpent || isLate ? 3 : 0, 1 + choice.below(2))
    const [first, second] = choice.below(2) === 0 ? [[agent!], calls] : [calls, [agent!]]
    early.push(...first)
    if (isLate) late.push(...second)
    else early.push(...second)
  }
  await write(early)
  await engine.flush()
  expect(await answer(query)).toEqual([{ cost: costOf(stored.values()) }])
  await write(late)
  expect(await answer(query)).toEqual([{ cost: costOf(stored.values()) }])
  await engine.flush()
  expect(await answer(query)).toEqual([{ cost: costOf(stored.values()) }])
  const spent = Array.from({ length: 20 }, () => {
    const agent = stored.get(`t${choice.below(traceCount)} agent`)
    return agent ? [{ ...agent, metrics: { estimated_cost: 5 } }] : []
  }).flat()
  await write(spent)
  expect(await answer(query)).toEqual([{ cost: costOf(stored.values()) }])
  const deleted = Array.from({ length: 20 }, () => `t${choice.below(traceCount)} call 0`)
  await insert(deleted.map((id) => ({ id, _object_delete: true })))
  for (const id of deleted) stored.delete(id)
  expect(await answer(query)).toEqual([{ cost: costOf(stored.values()) }])
  await engine.flush()
  await engine.compact()
  expect(await answer(query)).toEqual([{ cost: costOf(stored.values()) }])
})
