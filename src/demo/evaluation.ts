/**
 * An evaluation: models that answer the same questions of a dataset, each in an experiment of its own.
 * Some are better than others, all do worse on what is difficult, and the quick ones are not the best.
 */
import { Random } from './random.ts'
import type { DatasetRecord, SpanRecord } from './record.ts'
import { round } from './round.ts'
import { type Scores, TraceWriter } from './trace.ts'
import { languages, models, scoreNames } from './vocabulary.ts'

export interface EvaluationOptions {
  readonly seed: number
  /** Milliseconds since 1970 at which the first trace begins. */
  readonly start: number
  /** One of `evaluatedModels`. */
  readonly model: string
  readonly records: Iterable<DatasetRecord>
  /** The id of their dataset. */
  readonly dataset: string
}

/** The share of answers that are right, to questions of middling difficulty. */
const qualities: Readonly<Record<string, number>> = {
  'claude-sonnet-4': 0.9,
  'gpt-4o': 0.86,
  'claude-haiku-3.5': 0.8,
  'gpt-4o-mini': 0.72,
}

/** The first is what the others are compared with. */
export const evaluatedModels: readonly string[] = [
  'gpt-4o',
  'gpt-4o-mini',
  'claude-sonnet-4',
  'claude-haiku-3.5',
]

/** One trace per record, in the order of the records. */
export function* generateEvaluation(options: EvaluationOptions): Generator<SpanRecord, void> {
  const { seed, start, records, dataset } = options
  const random = new Random(seed)
  const writer = new TraceWriter(random, { kind: 'experiment', profile: 'full', userCount: 500 })
  const model = models.find(({ name }) => name === options.model)!
  let clock = start
  for (const { id, input, expected, metadata } of records) {
    const quality = qualities[model.name]! - (metadata.difficulty - 3) * 0.05
    const trace = writer.write(clock, {
      language: languages.find(({ code }) => code === input.locale)!,
      question: input.question,
      input,
      expected,
      metadata,
      origin: { object_type: 'dataset', object_id: dataset, id },
      model,
      scores: scoresOf(random, quality),
    })
    yield* trace.spans
    clock = trace.end + 1
  }
}

/** Means are near `quality`. Some scorers say only right or wrong, and now and then one fails. */
function scoresOf(random: Random, quality: number): Scores {
  const scores: Scores = {}
  for (const name of scoreNames) {
    if (random.chance(0.02)) scores[name] = null
    else if (name === binaryScore) scores[name] = random.chance(quality) ? 1 : 0
    else scores[name] = round(1 - random.next() ** 2 * Math.min(1, 3 * (1 - quality)), 4)
  }
  return scores
}

const binaryScore = 'Relevance'
