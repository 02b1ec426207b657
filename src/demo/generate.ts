/**
 * Records as an application that calls language models would log them: traces of a root span with
 * model calls, tool calls and scorers under it. The same options always give the same records.
 */
import { Random } from './random.ts'
import type { DatasetRecord, SpanRecord } from './record.ts'
import { TraceWriter } from './trace.ts'
import { passage, pickLanguage, question, tagNames } from './vocabulary.ts'

export interface SpanOptions {
  readonly seed: number
  readonly count: number
  /** Milliseconds since 1970 at which the first trace begins. */
  readonly start: number
  /** `experiment`: every trace has an expected answer and scorers. `logs`: some were rated. */
  readonly kind: 'logs' | 'experiment'
  /** `full`: about 1 KB of JSON a span; `compact`: about half of it, and ids as OpenTelemetry's. */
  readonly profile?: 'full' | 'compact'
  /** How many different `metadata.user_id` there may be: 200,000 if not given. */
  readonly userCount?: number
  /** Mean pause between the last span of a trace and the next trace: half a minute if not given. */
  readonly pauseMs?: number
}

export interface DatasetOptions {
  readonly seed: number
  readonly count: number
  readonly start: number
}

/** Spans ordered by `created`, which never repeats; ends in the middle of a trace if it must. */
export function* generateSpans(options: SpanOptions): Generator<SpanRecord, void> {
  const random = new Random(options.seed)
  const writer = new TraceWriter(random, {
    kind: options.kind,
    profile: options.profile ?? 'full',
    userCount: options.userCount ?? 200_000,
  })
  const pauseMs = options.pauseMs ?? 30_000
  let remaining = options.count
  let clock = options.start
  while (remaining > 0) {
    const trace = writer.write(clock)
    if (trace.spans.length > remaining) trace.spans.length = remaining
    yield* trace.spans
    remaining -= trace.spans.length
    clock = trace.end + 1 + Math.floor(random.exponential(pauseMs))
  }
}

/** Questions with the answer that is wanted, of varying difficulty. */
export function* generateDataset(options: DatasetOptions): Generator<DatasetRecord, void> {
  const random = new Random(options.seed)
  let clock = options.start
  for (let i = 0; i < options.count; i++) {
    const language = pickLanguage(random)
    clock += 1 + random.below(60_000)
    yield {
      id: `case-${String(i).padStart(6, '0')}`,
      created: new Date(clock).toISOString(),
      input: {
        question: question(random, language),
        locale: language.code,
        order: `A-${10_000 + i}`,
      },
      expected: passage(random, language, random.between(40, 400)),
      metadata: {
        category: random.pick(['billing', 'shipping', 'account', 'product']),
        difficulty: random.between(1, 5),
        source: random.chance(0.7) ? 'production' : { author: random.pick(['ana', 'bo', 'chi']) },
      },
      ...(random.chance(0.3) && { tags: [random.pick(tagNames)] }),
    }
  }
}
