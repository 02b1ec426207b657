import { createGunzip, createInflate, type Gunzip, type Inflate } from 'node:zlib'
import { AssayError } from '../error.ts'
import { copyOf, copyWhole } from '../json/copy-bytes.ts'
import { BodyChunks } from './body-chunks.ts'
import type { BodyMemory } from './body-memory.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { Responder } from './http/http-server.ts'

/** Room for a body of that length is there at once. */
const freelyTakenBytes = 64 * 1024

export interface BodyOptions {
  /** The header as it came; empty when there is none. */
  readonly contentLength: string
  readonly contentEncoding: string
  /** Most bytes of the body, after decompression. */
  readonly limit: number
  readonly budget: ByteBudget
  /** Where a large one may lie; nobody reads it any more once it is released. */
  readonly memory?: BodyMemory | undefined
}

/**
 * Receives a request's body. It must be made in the same turn as the request arrives, because
 * data that nobody listens to is dropped.
 *
 * Decompression runs in zlib's threads, and the socket is paused while it is behind. A body that
 * fails (too large, not gzip) is refused at once; what the client still sends is thrown away as it
 * arrives, so that the client gets to read the answer.
 */
export class RequestBody {
  readonly #responder: Responder
  readonly #limit: number
  readonly #budget: ByteBudget
  readonly #memory: BodyMemory | undefined
  readonly #expanded: boolean
  #counted = 0
  /** Of a body that does not come in one part. */
  #chunks: BodyChunks | undefined
  /** The length, where it is known beforehand. */
  #expected: number | undefined
  /** What is to be given back. */
  #taken: Buffer | undefined
  #onSettled: ((bytes: Uint8Array | undefined) => boolean) | undefined
  #inflate: Gunzip | Inflate | undefined
  #open = true
  #gone = false
  #paused = false
  /** Of most small bodies nobody asks for it. */
  #promise: Promise<Uint8Array> | undefined
  #resolve: ((bytes: Uint8Array) => void) | undefined
  #reject: ((error: AssayError) => void) | undefined
  #outcome: Uint8Array | AssayError | undefined

  constructor(responder: Responder, options: BodyOptions) {
    this.#responder = responder
    this.#limit = options.limit
    this.#budget = options.budget
    this.#memory = options.memory
    const encoding = options.contentEncoding.trim().toLowerCase()
    this.#expanded = encoding !== '' && encoding !== 'identity'
    const length = /^\d+$/.test(options.contentLength) ? Number(options.contentLength) : undefined
    if (this.#expanded) this.#startInflate(encoding)
    else if (length !== undefined && this.#fits(length)) this.#expected = length
    responder.onData((chunk, isLast) => this.#receive(chunk, isLast))
  }

  /** The whole body, decompressed. Rejects when it cannot be had. */
  get bytes(): Promise<Uint8Array> {
    if (this.#promise) return this.#promise
    this.#promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Whoever awaits the bytes gets the error; a request that fails earlier never does.
    this.#promise.catch(() => undefined)
    this.#conclude()
    return this.#promise
  }

  /**
   * Calls `settled` as soon as the body is whole, in the same turn and before `bytes` resolves, or
   * without bytes once it has failed. These bytes are lent until the call ends; who returns true needs no
   * others, which then are never there.
   */
  whenSettled(settled: (bytes: Uint8Array | undefined) => boolean): void {
    if (this.#open) this.#onSettled = settled
    else settled(undefined)
  }

  /** The client has left: the bytes will never come. */
  abort(): void {
    this.#gone = true
    this.#fail(new AssayError('QUERY_CANCELLED', 'the client left before its body had arrived'))
  }

  /** Throws away what still comes. Must be called before the answer is sent. */
  stop(): void {
    if (!this.#open) return
    this.#fail(new AssayError('QUERY_CANCELLED', 'the request ended before its body had arrived'))
  }

  /** Whoever sends it is not let in any more: what has come of it is of no use. */
  refuse(error: AssayError): void {
    if (this.#open) this.#fail(error)
  }

  /** Gives the body's memory back; call it once nobody needs the bytes any more. */
  release(): void {
    this.#budget.giveBack(this.#counted)
    this.#counted = 0
    if (this.#taken) this.#memory?.giveBack(this.#taken)
    this.#taken = undefined
  }

  #receive(chunk: Uint8Array, isLast: boolean): void {
    if (!this.#open) return
    if (this.#inflate) this.#decompress(this.#inflate, chunk, isLast)
    else if (isLast && !this.#chunks && chunk.length === (this.#expected ?? -1)) {
      if (this.#count(chunk.length)) this.#finishLent(chunk)
    } else {
      if (this.#count(chunk.length)) this.#gather(chunk)
      if (isLast) this.#finish()
    }
  }

  /** Takes room for all of the body once a good part of it has come: what is declared takes no memory. */
  #gather(chunk: Uint8Array): void {
    const chunks = this.#begunChunks()
    const expected = this.#expected
    if (expected !== undefined && !chunks.hasPlace) {
      const isNear = expected <= freelyTakenBytes || (chunks.length + chunk.length) * 4 >= expected
      if (isNear) chunks.place(this.#newWhole(expected))
    }
    chunks.add(chunk)
  }

  #begunChunks(): BodyChunks {
    this.#chunks ??= new BodyChunks()
    return this.#chunks
  }

  #conclude(): void {
    if (this.#outcome instanceof AssayError) this.#reject?.(this.#outcome)
    else if (this.#outcome) this.#resolve?.(this.#outcome)
  }

  #settle(bytes: Uint8Array | undefined): boolean {
    const settled = this.#onSettled
    this.#onSettled = undefined
    return settled?.(bytes) === true
  }

  #startInflate(encoding: string): void {
    const inflate = encodings.get(encoding)?.({ chunkSize: 64 * 1024 })
    if (!inflate) {
      this.#fail(
        new AssayError(
          'REQUEST_INVALID',
          `content-encoding "${encoding.slice(0, 40)}" is unknown`,
          {
            hint: 'send the body plain, or compressed with gzip or deflate',
          },
        ),
      )
      return
    }
    this.#inflate = inflate
    inflate.on('data', (chunk: Buffer) => {
      if (this.#open && this.#count(chunk.length)) this.#begunChunks().keep(chunk)
    })
    inflate.on('end', () => this.#finish())
    inflate.on('error', (cause) => {
      const name = encoding.replace(/^x-/, '')
      this.#fail(new AssayError('REQUEST_INVALID', `the body is not valid ${name}`, { cause }))
    })
  }

  #decompress(inflate: Gunzip | Inflate, chunk: Uint8Array, isLast: boolean): void {
    // A chunk is only lent: its memory is taken back when this turn ends.
    const keepsUp = inflate.write(copyOf(chunk))
    if (isLast) inflate.end()
    else if (!keepsUp) {
      this.#paused = true
      this.#responder.pause()
      inflate.once('drain', () => this.#resume())
    }
  }

  #resume(): void {
    if (this.#paused && !this.#gone) this.#responder.resume()
    this.#paused = false
  }

  /** Fails the body when it would be too large with so many more bytes. */
  #fits(bytes: number): boolean {
    if (this.#counted + bytes <= this.#limit) return true
    const what = this.#expanded ? 'the decompressed body' : 'the body'
    this.#fail(
      new AssayError('REQUEST_TOO_LARGE', `${what} exceeds the limit of ${this.#limit} bytes`, {
        hint: 'send fewer rows per request',
      }),
    )
    return false
  }

  /** Counts bytes that have come against the limits; fails the body when they do not fit. */
  #count(bytes: number): boolean {
    if (!this.#fits(bytes)) return false
    if (!this.#budget.take(bytes)) {
      this.#fail(
        new AssayError('LIMIT_OVERLOADED', 'too many request bodies are being received', {
          hint: 'try again in a moment',
        }),
      )
      return false
    }
    this.#counted += bytes
    return true
  }

  /** @param lent the whole body, which came in one part */
  #finishLent(lent: Uint8Array): void {
    this.#open = false
    if (!this.#settle(lent)) {
      const whole = this.#newWhole(lent.length)
      copyWhole(lent, whole, 0)
      this.#outcome = whole
      this.#conclude()
    }
    this.#drop()
  }

  /** Once all has come. Where much of it is still in chunks, it takes some turns. */
  #finish(): void {
    if (!this.#open) return
    const chunks = this.#begunChunks()
    const { single } = chunks
    if (!single) {
      if (!chunks.hasPlace) chunks.place(this.#newWhole(chunks.length))
      if (!chunks.move()) {
        setImmediate(() => this.#finish())
        return
      }
    }
    this.#open = false
    const bytes = single ?? chunks.whole
    if (!this.#settle(bytes)) {
      this.#outcome = bytes
      this.#conclude()
    }
    this.#drop()
  }

  #fail(error: AssayError): void {
    if (!this.#open) return
    this.#open = false
    this.#outcome = error
    this.#conclude()
    this.#settle(undefined)
    const inflate = this.#inflate
    this.#drop()
    if (inflate) {
      inflate.destroy()
      // It may have been paused for a decompressor that will never drain now.
      this.#resume()
    }
  }

  #newWhole(length: number): Buffer {
    this.#taken = this.#memory?.take(length)
    return this.#taken ?? Buffer.allocUnsafeSlow(length)
  }

  #drop(): void {
    this.#chunks = undefined
    this.#inflate = undefined
  }
}

const encodings = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
])
