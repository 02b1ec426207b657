/** One trace: a root span, then its steps in the order in which they happen, then the scorers. */
import type { Random } from './random.ts'
import type { Json, JsonMap, SpanRecord } from './record.ts'
import { round } from './round.ts'
import {
  applications,
  environments,
  failures,
  type Language,
  type Model,
  passage,
  pickLanguage,
  pickModel,
  question,
  scoreNames,
  systemPrompts,
  tagNames,
  toolNames,
} from './vocabulary.ts'

export interface TraceOptions {
  readonly kind: 'logs' | 'experiment'
  readonly profile: 'full' | 'compact'
  readonly userCount: number
}

export interface Trace {
  readonly spans: SpanRecord[]
  /** When the last span was created, in milliseconds since 1970. */
  readonly end: number
}

/** A question that is asked of a model on purpose, to see how well it does. */
export interface Case {
  readonly language: Language
  readonly question: string
  readonly input: Json
  readonly expected: string
  readonly metadata: JsonMap
  /** Where the question comes from. */
  readonly origin?: JsonMap
  readonly model: Model
  readonly scores: Scores
}

/** What the spans of one trace share. */
interface Conversation {
  /** Undefined for a question that a user happened to ask. */
  readonly given: Case | undefined
  readonly rootId: string
  readonly traceId: string
  readonly language: Language
  readonly question: string
  readonly answer: string
  readonly expected: string
  readonly model: Model
  readonly userId: string
  readonly environment: string
  readonly release: string
}

interface Step {
  readonly type: string
  readonly name: string
  readonly input: Json
  readonly output: Json
  readonly metadata: JsonMap
  readonly scores?: Scores
  /** What is measured besides the start and the end. */
  readonly metrics?: Metrics
  readonly seconds: number
}

export type Scores = { [name: string]: number | null }
type Metrics = { [name: string]: number }
type Writable<T> = { -readonly [key in keyof T]: T[key] }

const releaseCount = 24
const errorShare = 0.02

export class TraceWriter {
  readonly #random: Random
  readonly #options: TraceOptions
  readonly #full: boolean

  constructor(random: Random, options: TraceOptions) {
    this.#random = random
    this.#options = options
    this.#full = options.profile === 'full'
  }

  /** Writes the next trace, which begins at `start`; `given` is what it is about. */
  write(start: number, given?: Case): Trace {
    const random = this.#random
    const conversation = this.#begin(given)
    const steps = this.#steps(conversation)
    if (this.#options.kind === 'experiment') {
      const scorerCount = random.between(1, 3)
      for (let i = 0; i < scorerCount; i++) steps.push(this.#scorer(conversation, scoreNames[i]!))
    }
    let seconds = 0
    for (const step of steps) seconds += step.seconds + 0.005

    const spans = [this.#root(conversation, start, round(seconds, 3))]
    let clock = start
    for (const step of steps) {
      clock += random.between(1, 8)
      spans.push(this.#span(conversation, step, clock, this.#id(), [conversation.rootId]))
      clock += Math.round(step.seconds * 1000)
    }
    return { spans, end: clock }
  }

  #begin(given: Case | undefined): Conversation {
    const random = this.#random
    const language = given?.language ?? pickLanguage(random)
    const rootId = this.#id()
    return {
      given,
      rootId,
      traceId: rootId,
      language,
      question: given?.question ?? question(random, language),
      answer: passage(random, language, this.#full ? 280 : 30),
      expected: given?.expected ?? this.#expected(language),
      model: given?.model ?? pickModel(random),
      // Squared, so that some users are seen far more often than most.
      userId: `user_${Math.floor(random.next() ** 2 * this.#options.userCount)}`,
      environment: random.pick(environments),
      release: `2026.${random.between(1, releaseCount)}`,
    }
  }

  #expected(language: Language): string {
    if (this.#options.kind !== 'experiment') return ''
    return passage(this.#random, language, this.#full ? 200 : 30)
  }

  /** Model calls and tool calls in turn; the last step is the call that answers. */
  #steps(conversation: Conversation): Step[] {
    const steps: Step[] = []
    const toolCount = this.#random.below(3)
    for (let i = 0; i < toolCount; i++) {
      const name = this.#random.pick(toolNames)
      steps.push(this.#modelCall(conversation, name), this.#toolCall(conversation, name))
    }
    steps.push(this.#modelCall(conversation, undefined))
    return steps
  }

  /** A call that answers, or, if `tool` is given, one that asks for the tool. */
  #modelCall(conversation: Conversation, tool: string | undefined): Step {
    const random = this.#random
    const { model } = conversation
    const promptTokens = 40 + Math.floor(random.exponential(900))
    const completionTokens = 1 + Math.floor(random.exponential(tool === undefined ? 180 : 40))
    const firstToken = round(0.1 + random.exponential(0.35), 4)
    const metrics: Metrics = {
      start: 0,
      end: 0,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      tokens: promptTokens + completionTokens,
      time_to_first_token: firstToken,
    }
    if (this.#full) {
      const price = promptTokens * model.promptPrice + completionTokens * model.completionPrice
      metrics.estimated_cost = round(price / 1_000_000, 7)
      if (random.chance(0.3)) metrics.prompt_cached_tokens = random.below(promptTokens)
    }
    const metadata = this.#metadata(conversation)
    metadata.model = model.name
    if (this.#full) metadata.params = this.#parameters()
    return {
      type: 'llm',
      name: 'chat completion',
      input: this.#messages(conversation),
      output: this.#completion(conversation, tool),
      metadata,
      metrics,
      seconds: round(firstToken + completionTokens / model.speed, 3),
    }
  }

  #messages(conversation: Conversation): Json {
    if (!this.#full) return conversation.question
    const random = this.#random
    const messages: Json[] = [
      { role: 'system', content: random.pick(systemPrompts) },
      { role: 'user', content: conversation.question },
    ]
    if (random.chance(0.4)) {
      messages.push(
        { role: 'assistant', content: passage(random, conversation.language, 120) },
        { role: 'user', content: question(random, conversation.language) },
      )
    }
    return messages
  }

  #completion(conversation: Conversation, tool: string | undefined): Json {
    if (!this.#full) return tool ?? conversation.answer
    if (tool === undefined) {
      const message = { role: 'assistant', content: conversation.answer }
      return [{ index: 0, finish_reason: 'stop', message }]
    }
    const call = { name: tool, arguments: this.#arguments() }
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    return [{ index: 0, finish_reason: 'tool_calls', message }]
  }

  #arguments(): Json {
    return { query: `order ${this.#random.between(1, 99_999)}`, limit: this.#random.between(1, 9) }
  }

  #parameters(): JsonMap {
    const random = this.#random
    const parameters: JsonMap = {
      temperature: random.pick([0, 0.2, 0.7, 1]),
      max_tokens: random.pick([256, 1024, 4096]),
    }
    if (random.chance(0.2)) {
      parameters.top_p = 0.95
      parameters.stop = ['\n\n', 'END']
    }
    return parameters
  }

  #toolCall(conversation: Conversation, name: string): Step {
    const random = this.#random
    return {
      type: 'tool',
      name,
      input: this.#full ? this.#arguments() : name,
      output: this.#full ? this.#hits(conversation) : `kb/${random.between(1, 4_000)}`,
      metadata: this.#metadata(conversation),
      seconds: round(random.exponential(0.2), 3),
    }
  }

  #hits(conversation: Conversation): Json {
    const hits: Json[] = []
    const hitCount = this.#random.below(4)
    for (let i = 0; i < hitCount; i++) {
      hits.push({
        document: `kb/${this.#random.between(1, 4_000)}`,
        relevance: round(this.#random.next(), 3),
        text: passage(this.#random, conversation.language, 90),
      })
    }
    return hits
  }

  #scorer(conversation: Conversation, name: string): Step {
    const random = this.#random
    const score = conversation.given ? conversation.given.scores[name]! : this.#score()
    const metadata = this.#metadata(conversation)
    if (this.#full && random.chance(0.5)) {
      metadata.rationale = passage(random, conversation.language, 60)
    }
    const { answer, expected } = conversation
    return {
      type: 'score',
      name,
      input: this.#full ? { output: answer, expected } : name,
      output: { score },
      metadata,
      scores: { [name]: score },
      seconds: round(0.05 + random.exponential(0.4), 3),
    }
  }

  #root(conversation: Conversation, start: number, seconds: number): SpanRecord {
    const random = this.#random
    const experiment = this.#options.kind === 'experiment'
    const metadata = this.#metadata(conversation)
    metadata.model = conversation.model.name
    if (this.#full) metadata.session = random.below(1_000_000)
    const { given, question, language, answer, expected, rootId } = conversation
    Object.assign(metadata, given?.metadata)
    const scores = given?.scores ?? this.#someScores()
    const step: Step = {
      type: experiment ? 'eval' : 'task',
      name: random.pick(applications),
      input: given?.input ?? (this.#full ? { question, locale: language.code } : question),
      output: answer,
      metadata,
      scores,
      seconds,
    }
    const span = this.#span(conversation, step, start, rootId, null)
    if (experiment) span.expected = expected
    if (given?.origin) span.origin = given.origin
    if (random.chance(0.35)) span.tags = this.#tags()
    if (this.#full && random.chance(0.3)) span.context = callSite(random)
    return span
  }

  #span(
    conversation: Conversation,
    step: Step,
    created: number,
    spanId: string,
    parents: readonly string[] | null,
  ): Writable<SpanRecord> {
    const random = this.#random
    const metrics = step.metrics ?? { start: 0, end: 0 }
    metrics.start = created / 1000
    metrics.end = round(metrics.start + step.seconds, 3)
    const span: Writable<SpanRecord> = {
      id: this.#full ? random.uuid() : spanId,
      span_id: spanId,
      root_span_id: conversation.traceId,
      span_parents: parents,
      created: new Date(created).toISOString(),
      span_attributes:
        step.type === 'score'
          ? { name: step.name, type: step.type, purpose: 'scorer' }
          : { name: step.name, type: step.type },
      input: step.input,
      output: step.output,
      metadata: step.metadata,
      metrics,
    }
    if (step.scores !== undefined) span.scores = step.scores
    if (random.chance(errorShare)) {
      span.output = null
      span.error = failure(random)
    }
    return span
  }

  #id(): string {
    return this.#full ? this.#random.uuid() : this.#random.hex16()
  }

  /** What the spans of a trace have in common, and now and then a key that few rows have. */
  #metadata(conversation: Conversation): JsonMap {
    const random = this.#random
    const { userId, environment, release } = conversation
    const metadata: JsonMap = this.#full
      ? { user_id: userId, environment, release }
      : { user_id: userId, environment }
    if (random.chance(0.05)) metadata.priority = mixed(random)
    if (random.chance(0.004)) metadata[`flag_${random.below(300)}`] = random.chance(0.5)
    return metadata
  }

  #someScores(): Scores {
    const share = this.#options.kind === 'experiment' ? 0.8 : 0.1
    const scores: Scores = {}
    for (const name of scoreNames) {
      if (this.#random.chance(share)) scores[name] = this.#score()
    }
    return scores
  }

  #score(): number | null {
    const random = this.#random
    if (random.chance(0.06)) return null
    return random.chance(0.25) ? random.below(2) : round(1 - random.next() ** 2, 4)
  }

  #tags(): string[] {
    const random = this.#random
    const tags = [random.pick(tagNames)]
    const second = random.pick(tagNames)
    if (random.chance(0.4) && second !== tags[0]) tags.push(second)
    return tags
  }
}

/** Values of one key that are not all of one type, as happens when several teams write it. */
function mixed(random: Random): Json {
  switch (random.below(5)) {
    case 0:
      return random.pick(['low', 'high', '2'])
    case 1:
      return random.chance(0.5)
    case 2:
      return { level: random.between(1, 3), reason: 'escalated' }
    default:
      return random.between(1, 5)
  }
}

function failure(random: Random): Json {
  const { type, message } = random.pick(failures)
  return random.chance(0.5)
    ? `${type}: ${message}`
    : { type, message, attempt: random.between(1, 4) }
}

function callSite(random: Random): JsonMap {
  return {
    caller_functionname: random.pick(['answer', 'run_task', 'handle_request']),
    caller_filename: random.pick(['app/chat.py', 'app/agent.py', 'src/server.ts']),
    caller_lineno: random.between(10, 900),
  }
}
