/** Tasks tell the spans of traces by hashes, and give each other what is not theirs alone: as if one knew all texts. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RepeatedUsageState } from '../../src/executor/aggregate/repeated-usage.ts'
import { keyColumn } from '../../src/executor/column/key-column.ts'
import { vectorOf } from '../../src/executor/column/wire-values.ts'
import { repeatedUsage } from '../../src/function/repeated-usage.ts'
import { beginStates, endBatches } from '../../src/kernel/arena.ts'
import type { Value } from '../../src/type/value.ts'
import { type Vector, valueEntries, valueReader } from '../../src/vector/vector.ts'

interface Span {
  readonly trace: number
  readonly id: string
  readonly span: string | null
  readonly reports: boolean | null
  readonly type: string | null
  readonly purpose: string | null
  readonly parents: readonly Value[]
}

const traceCount = 4
const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f\ud800', '1')
const parent = fc.oneof(names, fc.constantFrom<Value>(null, null, 1, { a: 1 }))
const spans = fc.array(
  fc.record({
    trace: fc.nat(traceCount - 1),
    span: fc.option(names),
    reports: fc.option(fc.boolean()),
    type: fc.constantFrom('llm', 'tool', 'task', null),
    purpose: fc.constantFrom(null, null, 'scorer'),
    parents: fc.tuple(parent, parent, parent),
  }),
  { maxLength: 30 },
)

/** Rows of a batch, as vectors of one kind. */
type Form = 'values' | 'compact' | 'dictionary'

function vector(values: readonly Value[], form: Form): Vector {
  if (values.length > 0 && values.every((value) => value === values[0])) {
    return { kind: 'constant', value: values[0]! }
  }
  if (form === 'compact') return vectorOf(keyColumn(values))
  if (form === 'values') return { kind: 'values', values }
  const distinct = [...new Set(values)].filter((value) => value !== null)
  const codes = Int32Array.from(values, (value) => (value === null ? -1 : distinct.indexOf(value)))
  return { kind: 'dictionary', codes, entries: valueEntries(distinct) }
}

/** @param skipped whether every other row of the batch is left out */
function add(state: RepeatedUsageState, rows: readonly Span[], form: Form, skipped: boolean): void {
  const all = skipped ? rows.flatMap((row) => [{ ...row, span: 'a', id: 'none' }, row]) : rows
  const selection = skipped ? Int32Array.from(rows, (_, i) => 2 * i + 1) : undefined
  const column = (read: (row: Span) => Value) => vector(all.map(read), form)
  const columns = [
    column(({ id }) => id),
    column(({ span }) => span),
    column(({ reports }) => reports),
    column(({ type }) => type),
    column(({ purpose }) => purpose),
    ...[0, 1, 2].map((place) => column(({ parents }) => parents[place]!)),
  ]
  const groups = Int32Array.from(rows, ({ trace }) => trace)
  state.resize(traceCount)
  state.update(columns, { rowCount: all.length, selection, groups, count: rows.length })
}

function expectedOf(rows: readonly Span[]): string[][] {
  return Array.from({ length: traceCount }, (_, trace) => {
    const all = rows.filter((row) => row.trace === trace)
    const places = new Map<Value, number>()
    for (const { span } of all) if (!places.has(span)) places.set(span, places.size)
    places.delete(null)
    const repeated = repeatedUsage(
      all.map(({ span, reports, type, purpose, parents }) => ({
        span: span === null ? -1 : places.get(span)!,
        parents: parents.flatMap((each) => places.get(each) ?? []),
        reports: reports === true,
        isCall: type === 'llm',
        isTool: type === 'tool',
        isScorer: purpose === 'scorer',
      })),
    )
    return repeated.map((place) => all[place]!.id).sort()
  })
}

function resultsOf(state: RepeatedUsageState): string[][] {
  const lists = Array.from({ length: traceCount }, (_, trace) => state.result(trace))
  const traces = Int32Array.of(3, 0, 1, 2, 1)
  const valueAt = valueReader(vectorOf(state.column(traces)))
  expect(Array.from(traces, (_, i) => valueAt(i))).toEqual(Array.from(traces, (t) => lists[t]))
  return lists.map((list) => ((list ?? []) as string[]).toSorted())
}

const forms = fc.constantFrom<Form>('values', 'compact', 'dictionary')

it('is the same whoever reads the spans, and in whatever form they come', () => {
  fc.assert(
    fc.property(
      spans,
      fc.array(fc.tuple(forms, fc.boolean()), { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 30 }),
      (given, batches, size) => {
        const rows = given.map((row, i): Span => ({ ...row, id: `row ${i}` }))
        const merged = new RepeatedUsageState()
        merged.resize(traceCount)
        for (let from = 0; from < rows.length; from += size) {
          const task = new RepeatedUsageState()
          const middle = from + (size >> 1)
          add(task, rows.slice(from, middle), ...batches[from % 4]!)
          add(task, rows.slice(middle, from + size), ...batches[(from + 1) % 4]!)
          for (const groups of [Int32Array.of(0, 2), Int32Array.of(1, 3)]) {
            merged.merge(structuredClone(task.toWireOf(groups)), groups)
          }
        }
        const expected = expectedOf(rows)
        expect(resultsOf(merged)).toEqual(expected)
        const whole = new RepeatedUsageState()
        add(whole, rows, ...batches[0]!)
        const again = new RepeatedUsageState()
        again.resize(traceCount)
        again.merge(structuredClone(whole.toWire()), Int32Array.of(0, 1, 2, 3))
        expect([resultsOf(whole), resultsOf(again)]).toEqual([expected, expected])
      },
    ),
    { numRuns: process.env.ASSAY_SLOW === '1' ? 20_000 : 300 },
  )
})

it('is found by states that lie where loops work', () => {
  const rows = Array.from({ length: 20_000 }, (_, i): Span => {
    const parents = i % 2 === 0 ? [null, null, null] : [`span ${i - 1}`, null, null]
    const each = { trace: i % 7 < 2 ? 0 : 1, id: `row ${i}`, span: `span ${i}`, reports: true }
    return { ...each, type: null, purpose: null, parents }
  })
  beginStates()
  try {
    const state = new RepeatedUsageState()
    for (let from = 0; from < rows.length; from += 8192) {
      add(state, rows.slice(from, from + 8192), 'compact', false)
    }
    expect(resultsOf(state)).toEqual(expectedOf(rows))
  } finally {
    endBatches()
  }
})
