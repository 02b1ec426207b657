import type { Gate } from '../../access/gate.ts'
import { AssayError } from '../../error.ts'
import { encodeFailure } from '../../otlp/schema.ts'
import type { ByteBudget } from '../byte-budget.ts'
import { errorFields } from '../error-response.ts'
import { newTraceId } from '../trace-id.ts'
import { grpcCode, retrySeconds } from './status.ts'

/** A message that has not come by then never will. */
const longestReceiveMs = 60_000

/** Details of a status are a header. */
const longestDetails = 1000

/** One call, from its metadata to its status, and the memory that is set aside for its message. */
export class GrpcCall {
  readonly path: string
  readonly traceId = newTraceId()
  sentBytes = 0
  readonly #startedAt = performance.now()
  /** Of messages that are on their way, and of those that are there, with all bodies of requests. */
  readonly #awaited: ByteBudget
  readonly #budget: ByteBudget
  #gate: Gate | undefined
  #reserved = 0
  #taken = 0
  #isHandled = false
  #error: AssayError | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(path: string, awaited: ByteBudget, budget: ByteBudget) {
    this.path = path
    this.#awaited = awaited
    this.#budget = budget
  }

  /** What whoever calls may do; undefined until it is let in. */
  get gate(): Gate | undefined {
    return this.#gate
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt
  }

  /** What it would be over HTTP; 0 when the client left. */
  get httpStatus(): number {
    if (this.#error) return this.#error.status
    return this.sentBytes > 0 || this.#isHandled ? 200 : 0
  }

  /** Throws LIMIT_OVERLOADED when there is no room for so large a message. */
  admit(gate: Gate, maxMessageBytes: number): void {
    if (!this.#awaited.take(maxMessageBytes)) throw overloaded()
    this.#reserved = maxMessageBytes
    this.#gate = gate
  }

  /** Calls `onLate` unless the message comes soon. */
  expectMessage(onLate: () => void): void {
    this.#timer = setTimeout(onLate, longestReceiveMs).unref()
  }

  /** The message is there; it takes no more than its length. Throws LIMIT_OVERLOADED when that is too much. */
  receive(bytes: number): void {
    clearTimeout(this.#timer)
    this.#isHandled = true
    this.#giveBackAwaited()
    if (!this.#budget.take(bytes)) throw overloaded()
    this.#taken = bytes
  }

  /** What the call is told that ends for this reason. */
  fail(error: AssayError) {
    this.#error = error
    const { message } = errorFields(error, { traceId: this.traceId, queryText: undefined })
    // Half of a surrogate pair has no place in a header.
    const details = Buffer.from(message.slice(0, longestDetails)).toString()
    const code = grpcCode(error.code)
    return { code, details, status: encodeFailure(code, details, retrySeconds(error)) }
  }

  /** The call has ended; its message may still be worked on. */
  end(): void {
    clearTimeout(this.#timer)
    if (!this.#isHandled) this.release()
  }

  /** Nobody needs the message any more. */
  release(): void {
    this.#giveBackAwaited()
    this.#budget.giveBack(this.#taken)
    this.#taken = 0
  }

  #giveBackAwaited(): void {
    this.#awaited.giveBack(this.#reserved)
    this.#reserved = 0
  }
}

function overloaded(): AssayError {
  return new AssayError('LIMIT_OVERLOADED', 'too many request bodies are being received', {
    hint: 'try again in a moment',
  })
}
