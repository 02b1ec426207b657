import { expect, test } from 'vitest'
import { evaluatedModels, generateEvaluation } from '../../src/demo/evaluation.ts'
import { generateDataset } from '../../src/demo/generate.ts'
import type { SpanRecord } from '../../src/demo/record.ts'

const records = [...generateDataset({ seed: 3, count: 300, start: 0 })]

function rootsOf(model: string): SpanRecord[] {
  const spans = generateEvaluation({ seed: 5, start: 0, model, records, dataset: 'the dataset' })
  return [...spans].filter((span) => span.span_parents === null)
}

test('each model answers every question of the dataset once', () => {
  for (const model of evaluatedModels) {
    const roots = rootsOf(model)
    expect(roots.map(({ input, expected }) => ({ input, expected }))).toEqual(
      records.map(({ input, expected }) => ({ input, expected })),
    )
    expect(new Set(roots.map(({ metadata }) => metadata.model))).toEqual(new Set([model]))
    expect(roots[7]!.origin).toEqual({
      object_type: 'dataset',
      object_id: 'the dataset',
      id: records[7]!.id,
    })
  }
  // Rows of two experiments are told apart by what they were asked.
  expect(new Set(records.map(({ input }) => JSON.stringify(input))).size).toBe(records.length)
})

test('some models are better than others', () => {
  const mean = (model: string) => {
    const scores = rootsOf(model).flatMap(({ scores }) => scores?.Factuality ?? [])
    return scores.reduce((total, score) => total + score, 0) / scores.length
  }
  expect(mean('claude-sonnet-4')).toBeGreaterThan(mean('gpt-4o-mini') + 0.05)
  expect(mean('gpt-4o-mini')).toBeGreaterThan(0.5)
})
