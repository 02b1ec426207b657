/** Pages of the newest traces are what the list of all traces begins with, and read little of it. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { openLogs } from '../support/temporary-logs.ts'

type Logs = Awaited<ReturnType<typeof openLogs>>

/** How a span belongs to its trace. */
const spans = fc.record({
  // A trace that goes on, long after it began, or one of the rows around this one.
  trace: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 2 }).map((back) => ({ back })) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 }).map((far) => ({ far })) },
  ),
  isRoot: fc.boolean(),
  model: fc.constantFrom('a', 'b', 'c', null),
  tokens: fc.integer({ min: 0, max: 9 }),
  // Some rows are written again, later.
  isUpdated: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
})

type Span = typeof spans extends fc.Arbitrary<infer T> ? T : never

function eventOf({ trace, isRoot, model, tokens }: Span, i: number) {
  const root = `t${'back' in trace ? Math.floor(i / 3) - trace.back : trace.far}`
  return {
    id: `r${i}`,
    // A trace may have several rows that name themselves its root.
    span_id: isRoot ? root : `r${i}`,
    root_span_id: root,
    metadata: { model },
    metrics: { tokens },
  }
}

/** Of summaries: rows are traces. */
const queries = [
  'select: id, root_span_id, metadata.model, metrics.tokens as tokens',
  "select: id | filter: metadata.model = 'a'",
  "select: id | filter: is_root and metadata.model = 'b'",
  'select: id | filter: metrics.total_tokens > 6',
  "select: id | filter: any_span(metadata.model = 'c') and not any_span(metadata.model = 'a')",
  "select: id | final_filter: metadata.model = 'c' and metrics.tokens < 20",
  'select: id | filter: metrics.total_tokens > 1000',
]

/** Pages that are read one after the other. */
const pageCount = 12

/** What the first pages have, one after the other. */
async function pagesOf(logs: Logs, shape: string, query: string, size: number) {
  const rows: object[] = []
  let next = ''
  for (let count = 0; count < pageCount; count++) {
    const { rows: found, cursor } = await logs.page(`${query} | limit: ${size}${next}`, shape)
    rows.push(...found)
    if (found.length === 0 || cursor === undefined) break
    next = ` | cursor: '${cursor}'`
  }
  return rows
}

async function load(given: readonly Span[]): Promise<Logs> {
  const logs = await openLogs(60)
  const events = given.map(eventOf)
  const updated = given.flatMap((span, i) => {
    return span.isUpdated ? [{ ...events[i]!, metadata: { model: 'a' } }] : []
  })
  for (let i = 0; i < events.length; i += 40) {
    await logs.insert(events.slice(i, i + 40))
    await logs.engine.flush()
  }
  // The last ones stay in the delta, and some are of old traces.
  for (let i = 0; i < updated.length; i += 8) {
    if (i > 0) await logs.engine.flush()
    await logs.insert(updated.slice(i, i + 8))
  }
  return logs
}

it('pages of summaries are those of the list of all', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(spans, { minLength: 200, maxLength: 300 }),
      fc.integer({ min: 1, max: 4 }),
      async (given, size) => {
        const logs = await load(given)
        for (const query of queries) {
          const whole = await logs.page(query, 'summary')
          expect(await pagesOf(logs, 'summary', query, size), query).toEqual(
            whole.rows.slice(0, size * pageCount),
          )
          const first = await logs.page(`${query} | limit: ${size} | offset: 1`, 'summary')
          expect(first.rows, query).toEqual(whole.rows.slice(1, size + 1))
        }
      },
    ),
    { numRuns: isSlow ? 100 : 2, seed },
  )
})

it('a page reads the newest rows, and those of its traces', { timeout: 60_000 }, async () => {
  const logs = await openLogs(40_000)
  for (let from = 0; from < 80_000; from += 40_000) {
    await logs.insert(
      Array.from({ length: 40_000 }, (_, i) => {
        const [span_id, root_span_id] = [`s${from + i}`, `s${from + i - (i % 4)}`]
        return { id: span_id, span_id, root_span_id, metrics: { tokens: 1 } }
      }),
    )
    await logs.engine.flush()
  }
  const { rows, read } = await logs.page('select: id, metrics.tokens as n | limit: 3', 'summary')
  expect(rows).toEqual([
    { id: 's79996', n: 4 },
    { id: 's79992', n: 4 },
    { id: 's79988', n: 4 },
  ])
  // The rows of its traces are read twice: whose usage counts is found first.
  expect(read).toBeLessThan(30_000)
})

it('pages of traces have spans of the list of all, each once', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(spans, { minLength: 200, maxLength: 300 }),
      fc.integer({ min: 3, max: 9 }),
      async (given, size) => {
        const logs = await load(given)
        for (const filter of ['', " | filter: metadata.model = 'a'"]) {
          // Whose usage counts is found after the traces of a page.
          const query = `select: id, root_span_id, repeats_usage() as repeats${filter}`
          const whole = await logs.page(query, 'traces')
          const pages = sorted(await pagesOf(logs, 'traces', query, size))
          const all = sorted(whole.rows)
          expect(pages.length).toBe(new Set(pages).size)
          expect(pages.filter((row) => !all.includes(row))).toEqual([])
          expect(pages.length).toBeGreaterThan(size * 2)
        }
      },
    ),
    { numRuns: isSlow ? 100 : 2, seed },
  )
})

function sorted(rows: readonly object[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort()
}
