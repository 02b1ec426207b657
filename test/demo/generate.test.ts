import { describe, expect, test } from 'vitest'
import { encodeBatches } from '../../src/demo/batch.ts'
import { generateDataset, generateSpans, type SpanOptions } from '../../src/demo/generate.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const options: SpanOptions = { seed: 7, count: 5_000, start, kind: 'logs' }

describe('generated spans', () => {
  test('are the same for the same options and others for another seed', () => {
    const text = (seed: number) => JSON.stringify([...generateSpans({ ...options, seed })])
    expect(text(7)).toBe(text(7))
    expect(text(7)).not.toBe(text(8))
  })

  test.each(['logs', 'experiment'] as const)(
    'of %s are well-formed traces in time order',
    (kind) => {
      for (const profile of ['full', 'compact'] as const) {
        const spans = [...generateSpans({ ...options, kind, profile })]
        expect(spans).toHaveLength(5_000)
        expect(new Set(spans.map((span) => span.id)).size).toBe(5_000)
        const traces = new Set<string>()
        let previous = ''
        for (const span of spans) {
          expect(span.created > previous).toBe(true)
          previous = span.created
          if (span.span_parents === null) traces.add(span.root_span_id)
          expect(traces.has(span.root_span_id)).toBe(true)
          expect(span.metrics.end).toBeGreaterThanOrEqual(span.metrics.start!)
        }
      }
    },
  )

  test('have the variety that queries need', () => {
    const spans = [...generateSpans({ ...options, kind: 'experiment', count: 40_000 })]
    const share = (of: (span: (typeof spans)[number]) => boolean) =>
      spans.filter(of).length / spans.length
    expect(share((span) => span.error !== undefined)).toBeCloseTo(0.02, 2)
    expect(new Set(spans.map((span) => span.metadata.model)).size).toBe(9)
    expect(new Set(spans.map((span) => span.metadata.user_id)).size).toBeGreaterThan(5_000)
    expect(new Set(spans.map((span) => typeof span.metadata.priority)).size).toBe(5)
    expect(share((span) => Object.values(span.scores ?? {}).includes(null))).toBeGreaterThan(0.01)
    expect(share((span) => /[一-鿿]/.test(JSON.stringify(span)))).toBeGreaterThan(0.01)
    expect(share((span) => span.tags !== undefined)).toBeGreaterThan(0.03)
  })
})

test('a generated data set has the questions and answers that were asked for', () => {
  const records = [...generateDataset({ seed: 3, count: 100, start })]
  expect(records.map((record) => record.id).at(-1)).toBe('case-000099')
  expect(records).toEqual([...generateDataset({ seed: 3, count: 100, start })])
})

test('batches hold all records in each of the forms', () => {
  const records = [...generateSpans({ ...options, count: 25 })]
  const lines = [...encodeBatches(records, { rowsPerBatch: 10, form: 'lines' })]
  expect(lines.map((batch) => batch.rowCount)).toEqual([10, 10, 5])
  const texts = Buffer.concat(lines.map((batch) => batch.bytes))
    .toString()
    .trimEnd()
    .split('\n')
  expect(texts.map((text) => JSON.parse(text))).toEqual(records)

  const events = [...encodeBatches(records, { rowsPerBatch: 25, form: 'events' })]
  expect(events).toHaveLength(1)
  expect(JSON.parse(events[0]!.bytes.toString())).toEqual({ events: records })
  const [rows] = [...encodeBatches(records, { rowsPerBatch: 50, form: 'rows' })]
  expect(JSON.parse(rows!.bytes.toString())).toEqual({ rows: records })
})
