import { performance } from 'node:perf_hooks'
import { AssayError } from '../error.ts'
import type { RequestBody } from './body.ts'
import { type ContentEncoding, chooseEncoding } from './content-encoding.ts'
import type { RequestHead, Responder } from './http/http-server.ts'
import type { SeenByPage } from './nodes/seen.ts'
import { ResponseSender } from './response.ts'
import type { FailureForm } from './route.ts'
import { newTraceId } from './trace-id.ts'

/** What a client may call a request: nothing that could break a header or a line of the log. */
const requestIdForm = /^[A-Za-z0-9._:-]{1,128}$/

/** One exchange with a client, from its first header to the last byte of the answer. */
export class Exchange {
  readonly method: string
  readonly path: string
  /** Ours, and nobody else's: it finds the request in the log for sure. */
  readonly traceId = newTraceId()
  /** What the client calls the request, in `x-request-id`; else the trace id. */
  readonly requestId: string
  readonly startedAt = performance.now()
  /** How the client likes its answer compressed best. */
  readonly encoding: ContentEncoding | undefined
  readonly sender: ResponseSender
  /** The path of its route; `none` until one is found. */
  route = 'none'
  body: RequestBody | undefined
  /** Called once it is over. */
  onEnd: (() => void) | undefined
  /** See `Route`; set once one is found. */
  failure: FailureForm | undefined
  /** Throws when whoever asks is not let in any more; set once that is known. */
  check: (() => void) | undefined
  status = 0
  /** What it changes is told of by how far the service is then. */
  mayChange = false
  /** The page's, of which a cookie tells what it has seen; see `pageOf`. */
  page: SeenByPage | undefined
  /** The connection ends with it, since nothing says for sure where the next request begins. */
  endsConnection = false
  #cancel: AbortController | undefined
  #reason: AssayError | undefined

  /** Everything that needs the request itself is read here: it is gone when this turn ends. */
  constructor(responder: Responder, request: RequestHead) {
    this.method = request.getMethod().toUpperCase()
    this.path = request.getUrl()
    const givenId = request.getHeader('x-request-id')
    this.requestId = requestIdForm.test(givenId) ? givenId : this.traceId
    this.encoding = chooseEncoding(request.getHeader('accept-encoding'))
    this.sender = new ResponseSender(responder)
    responder.onGone(() => {
      this.body?.abort()
      this.abort(new AssayError('QUERY_CANCELLED', 'the client left'))
    })
  }

  /** Why its work is of no use any more; undefined while it is. */
  get reason(): AssayError | undefined {
    return this.#reason
  }

  /** Aborted when the client leaves, or the server can wait no longer. */
  get signal(): AbortSignal {
    this.#cancel ??= new AbortController()
    if (this.#reason && !this.#cancel.signal.aborted) this.#cancel.abort(this.#reason)
    return this.#cancel.signal
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt
  }

  /** Ends the work on it. An answer that has begun breaks off, so that no one takes it for whole. */
  cancel(reason: AssayError): void {
    this.abort(reason)
    if (this.sender.started) this.sender.break()
  }

  /** Tells whoever works on it that nobody waits; the first reason counts. */
  abort(reason: AssayError): void {
    if (this.#reason) return
    this.#reason = reason
    this.#cancel?.abort(reason)
  }
}
