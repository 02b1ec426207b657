/**
 * Writes spans as JSON, about 1 KB each, in the order of their time: several traces are open at a
 * time, as from several users. The same seed gives the same rows, and fewer rows are the beginning
 * of more.
 */
import { Random } from '../../../src/demo/random.ts'
import { RowBuffer } from './row-buffer.ts'
import { pickRank, pickScript, rareWords, type Script } from './vocabulary.ts'

export const seed = 20_260_704
/** Milliseconds since 1970 of about the first row; ten million rows cover four months. */
export const firstTime = Date.UTC(2026, 0, 1)
const meanPauseMs = 1000

export const userCount = 200_000
export const flagCount = 300
const openTraces = 8
const mostSpans = 20

interface Trace {
  readonly id: string
  readonly script: Script
  readonly model: Model
  readonly environment: string
  /** The entries of metadata that all spans of a trace share, as JSON without braces. */
  readonly metadata: string
  spansLeft: number
  hasRoot: boolean
}

interface Model {
  readonly name: string
  readonly price: number
  readonly tokensPerSecond: number
}

export const models: readonly Model[] = [
  { name: 'gpt-4o', price: 10, tokensPerSecond: 95 },
  { name: 'gpt-4o-mini', price: 0.6, tokensPerSecond: 130 },
  { name: 'claude-sonnet-4', price: 15, tokensPerSecond: 70 },
  { name: 'claude-haiku-3.5', price: 4, tokensPerSecond: 110 },
  { name: 'gemini-2.5-flash', price: 2.5, tokensPerSecond: 180 },
  { name: 'llama-3.3-70b', price: 0.8, tokensPerSecond: 60 },
  { name: 'mistral-large', price: 6, tokensPerSecond: 55 },
  { name: 'qwen-2.5-72b', price: 1.2, tokensPerSecond: 65 },
]
const environments = ['production', 'production', 'production', 'staging', 'development']
export const plans = ['free', 'free', 'free', 'team', 'team', 'enterprise']
const countries = ['us', 'us', 'us', 'de', 'jp', 'in', 'br', 'fr', 'gb', 'cn', 'kr', 'mx', 'ng']
export const tags = [
  'triage',
  'billing',
  'urgent',
  'feedback',
  'regression',
  'golden',
  'needs review',
  'español',
]
const tools = ['search_documents', 'look_up_order', 'run_sql', 'fetch_page', 'calculate']
const applications = ['support-assistant', 'docs-search', 'sales-copilot']
const temperatures = ['0', '0.2', '0.7', '1']
const failures = ['RateLimitError', 'TimeoutError', 'ContextLengthError', 'ToolError']

export class SpanWriter {
  readonly #random: Random
  readonly #rows = new RowBuffer()
  readonly #traces: Trace[]
  #clock = firstTime
  #row = 0

  constructor(from: number = seed) {
    this.#random = new Random(from)
    this.#traces = Array.from({ length: openTraces }, () => this.#trace())
  }

  /** The next spans, a line each. The bytes are overwritten by the next call. */
  next(rows: number): Buffer {
    this.#rows.clear()
    for (let i = 0; i < rows; i++) this.#nextRow()
    return this.#rows.bytes
  }

  #nextRow(): void {
    const random = this.#random
    const at = random.below(openTraces)
    let trace = this.#traces[at]!
    if (trace.spansLeft === 0) {
      trace = this.#trace()
      this.#traces[at] = trace
    }
    trace.spansLeft--
    this.#clock += 1 + Math.floor(random.exponential(meanPauseMs))
    if (!trace.hasRoot) this.#root(trace)
    else if (random.chance(0.65)) this.#modelCall(trace)
    else this.#toolCall(trace)
    trace.hasRoot = true
    this.#row++
  }

  #trace(): Trace {
    const random = this.#random
    const model = models[Math.floor(random.next() ** 1.7 * models.length)]!
    const user = Math.floor(random.next() ** 2 * userCount)
    const plan = random.pick(plans)
    const environment = random.pick(environments)
    const customer = `{"country":"${random.pick(countries)}","plan":"${plan}","tier":${random.between(1, 5)}}`
    return {
      id: random.hex16() + random.hex16(),
      script: pickScript(random),
      model,
      environment,
      metadata:
        `"user_id":"user-${user}","environment":"${environment}",` +
        `"release":"2026.${random.between(1, 24)}","session":${random.below(1_000_000)},` +
        `"customer":${customer}`,
      spansLeft: 1 + Math.floor(random.next() ** 2 * mostSpans),
      hasRoot: false,
    }
  }

  #root(trace: Trace): void {
    const random = this.#random
    const seconds = random.exponential(6)
    this.#head(trace, 'task', random.pick(applications))
    this.#rows.text(`{"locale":"${trace.script.code}","question":"`)
    this.#text(trace.script, random.between(5, 25))
    this.#rows.text('"}')
    this.#output(trace.script, random.between(20, 70), '"', '"')
    this.#rows.text(
      `,"metadata":{${trace.metadata},"model":"${trace.model.name}"${this.#oddMetadata()}},` +
        `"metrics":{${this.#times(seconds)}}${this.#scores()}${this.#tags()}}\n`,
    )
  }

  #modelCall(trace: Trace): void {
    const random = this.#random
    const { script, model } = trace
    const prompt = 40 + Math.floor(random.exponential(900))
    const completion = 1 + Math.floor(random.exponential(180))
    const firstToken = round(0.05 + random.exponential(0.35), 4)
    const seconds = firstToken + completion / model.tokensPerSecond
    const cost = round(((prompt / 4 + completion) * model.price) / 1e6, 8)
    const parameters =
      `{"temperature":${random.pick(temperatures)},"max_tokens":${256 << random.below(5)}` +
      (random.chance(0.2) ? ',"top_p":0.95,"stop":["\\n\\n","END"]}' : '}')
    this.#head(trace, 'llm', 'chat completion')
    this.#rows.text('[{"role":"system","content":"')
    this.#text(script, 12)
    this.#rows.text('"},{"role":"user","content":"')
    this.#text(script, random.between(5, 30))
    this.#rows.text('"}]')
    this.#output(script, random.between(10, 50), '"', '"')
    this.#rows.text(
      `,"metadata":{${trace.metadata},"model":"${model.name}","params":${parameters}` +
        `${this.#oddMetadata()}},"metrics":{${this.#times(seconds)},` +
        `"prompt_tokens":${prompt},"completion_tokens":${completion},` +
        `"tokens":${prompt + completion},"time_to_first_token":${firstToken},` +
        `"estimated_cost":${cost}}${random.chance(0.2) ? this.#scores() : ''}}\n`,
    )
  }

  /** Its output is an object, with keys in order, so that its text is the same everywhere. */
  #toolCall(trace: Trace): void {
    const random = this.#random
    const name = random.pick(tools)
    this.#head(trace, 'tool', name)
    this.#rows.text(
      `{"arguments":{"limit":${random.between(1, 9)},` +
        `"query":"order ${random.between(1, 999_999)}"},"name":"${name}"}`,
    )
    const hit = `"document":"kb/${random.between(1, 4000)}","relevance":${round(random.next(), 3)}`
    this.#output(
      trace.script,
      random.between(10, 40),
      `{"hits":[{${hit},"text":"`,
      '"}],"status":"ok"}',
    )
    this.#rows.text(
      `,"metadata":{${trace.metadata}${this.#oddMetadata()}},` +
        `"metrics":{${this.#times(random.exponential(0.2))}}}\n`,
    )
  }

  /** Everything up to the value of `input`. */
  #head(trace: Trace, type: string, name: string): void {
    const random = this.#random
    const rootId = trace.id.slice(0, 16)
    const spanId = trace.hasRoot ? random.hex16() : rootId
    const parents = trace.hasRoot ? `["${rootId}"]` : 'null'
    this.#rows.text(
      `{"id":"${random.uuid()}","span_id":"${spanId}","root_span_id":"${trace.id}",` +
        `"span_parents":${parents},"created":"${new Date(this.#clock).toISOString()}",` +
        `"span_attributes":{"name":"${name}","type":"${type}"},"input":`,
    )
  }

  #times(seconds: number): string {
    const start = this.#clock / 1000
    return `"start":${start},"end":${round(start + seconds, 3)}`
  }

  /** A path of several types, and paths that few rows have. */
  #oddMetadata(): string {
    const random = this.#random
    let text = ''
    if (random.chance(0.05)) text += `,"priority":${this.#priority()}`
    if (random.chance(0.004)) text += `,"flag_${random.below(flagCount)}":${random.chance(0.5)}`
    return text
  }

  #priority(): string {
    const random = this.#random
    switch (random.below(5)) {
      case 0:
        return `"${random.pick(['low', 'high', '2'])}"`
      case 1:
        return random.chance(0.5) ? 'true' : 'false'
      case 2:
        return `{"level":${random.between(1, 3)},"reason":"escalated"}`
      default:
        return String(random.between(1, 5))
    }
  }

  #failure(): string {
    const random = this.#random
    const type = random.pick(failures)
    return random.chance(0.5)
      ? `"${type}: status ${random.between(400, 599)}"`
      : `{"attempt":${random.between(1, 4)},"type":"${type}"}`
  }

  #scores(): string {
    const random = this.#random
    const score = () => (random.chance(0.06) ? 'null' : String(round(1 - random.next() ** 2, 4)))
    let text = `,"scores":{"Factuality":${score()}`
    if (random.chance(0.5)) text += `,"Relevance":${score()}`
    if (random.chance(0.1)) text += `,"Conciseness":${score()}`
    return `${text}}`
  }

  #tags(): string {
    const random = this.#random
    if (random.chance(0.5)) return ''
    const [first, second] = [random.pick(tags), random.pick(tags)]
    return first === second ? `,"tags":["${first}"]` : `,"tags":["${first}","${second}"]`
  }

  /** The entry `output`, and now and then an `error` in its place. */
  #output(script: Script, words: number, before: string, after: string): void {
    if (this.#random.chance(0.02)) {
      this.#rows.text(`,"output":null,"error":${this.#failure()}`)
      return
    }
    this.#rows.text(`,"output":${before}`)
    for (const { text, period, offset, isWord } of rareList) {
      if (this.#row % period === offset) this.#rows.text(isWord ? `${text} ` : text)
    }
    this.#text(script, words)
    this.#rows.text(after)
  }

  /** Sentences, as they stand between the quotes of JSON. */
  #text({ words, capitalized, wordCount, blank, stop }: Script, count: number): void {
    const random = this.#random
    const rows = this.#rows
    let sentence = 0
    for (let i = 0; i < count; i++) {
      const rank = pickRank(random, wordCount)
      const { bytes, begin } = sentence === 0 ? capitalized : words
      rows.copy(bytes, begin[rank]!, begin[rank + 1]!)
      if (sentence === 0) sentence = random.between(4, 14)
      sentence--
      if (sentence === 0) rows.text(random.chance(0.15) ? `${stop}\\n\\n` : stop + blank)
    }
    const ending = random.next()
    if (ending < 0.1) rows.text(` (#${random.between(10_000, 999_999)})`)
    else if (ending < 0.2) rows.text(' \\"ok\\"')
  }
}

const rareList = Object.values(rareWords).flat()

function round(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.round(value * scale) / scale
}
