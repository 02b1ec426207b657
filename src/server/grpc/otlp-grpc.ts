/**
 * OTLP over gRPC: the same requests as over HTTP, with metadata for headers. Life of a call: whoever makes
 * it is let in and room for its message is set aside, before any of that is read; the message goes the
 * way of HTTP's bodies; the call ends with a status.
 */
import {
  logVerbosity,
  Metadata,
  ResponderBuilder,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  type ServerUnaryCall,
  type sendUnaryData,
  setLogVerbosity,
} from '@grpc/grpc-js'
import type { Access } from '../../access/access.ts'
import type { Principal } from '../../access/principal.ts'
import { AssayError, assert, toAssayError } from '../../error.ts'
import { encodeResponse, type Signal } from '../../otlp/schema.ts'
import { ByteBudget } from '../byte-budget.ts'
import type { Logger } from '../logger.ts'
import type { ServedRequest } from '../metrics.ts'
import type { ExportReceiver } from '../route/otlp/receive.ts'
import { GrpcCall } from './grpc-call.ts'

export interface OtlpGrpcOptions {
  readonly receiver: ExportReceiver
  readonly access: Access
  /** Throws when there are too many. */
  readonly countRequest: (who: Principal) => void
  /** Of all bodies of requests, whatever they come by. */
  readonly budget: ByteBudget
  readonly maxBodyBytes: number
  readonly onServed: (request: ServedRequest) => void
  readonly logger: Logger
}

// What goes wrong is told by calls and by errors; the library would print it besides.
setLogVerbosity(logVerbosity.NONE)

/** Room for the largest message is set aside for each call, as nothing says how large it will be. */
const largestMessageBytes = 16 * 2 ** 20

/** Messages may be on their way for that many calls, whoever makes them: HTTP has room of its own. */
const awaitedMessages = 32

const streamsPerConnection = 100

/** Connections without a call are closed, as are those whose other end has gone. */
const idleMs = 600_000
const keepaliveMs = 60_000

const methods: readonly { readonly path: string; readonly signal: Signal }[] = [
  { path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export', signal: 'traces' },
  { path: '/opentelemetry.proto.collector.logs.v1.LogsService/Export', signal: 'logs' },
]

export class OtlpGrpcServer {
  readonly #options: OtlpGrpcOptions
  readonly #maxMessageBytes: number
  readonly #awaited: ByteBudget
  readonly #server: Server
  /** Calls that were let in, by the metadata that they came with. */
  readonly #admitted = new WeakMap<Metadata, GrpcCall>()
  readonly #open = new Set<GrpcCall>()
  #isDraining = false
  #port: number | undefined

  constructor(options: OtlpGrpcOptions) {
    this.#options = options
    this.#maxMessageBytes = Math.min(options.maxBodyBytes, largestMessageBytes)
    this.#awaited = new ByteBudget(awaitedMessages * this.#maxMessageBytes)
    this.#server = new Server({
      interceptors: [this.#admission],
      'grpc.max_receive_message_length': this.#maxMessageBytes,
      'grpc.max_concurrent_streams': streamsPerConnection,
      'grpc.max_connection_idle_ms': idleMs,
      'grpc.keepalive_time_ms': keepaliveMs,
    })
    for (const { path, signal } of methods) {
      const handle = (
        call: ServerUnaryCall<Buffer, Uint8Array>,
        respond: sendUnaryData<Uint8Array>,
      ) => void this.#handle(signal, call, respond)
      const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes)
      this.#server.register(path, handle, asBuffer, (bytes: Buffer) => bytes, 'unary')
    }
  }

  /** Undefined while it does not listen. */
  get port(): number | undefined {
    return this.#port
  }

  get openCalls(): number {
    return this.#open.size
  }

  /** Throws SERVER_CANNOT_LISTEN when the address cannot be had. */
  async listen(host: string, port: number): Promise<void> {
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
    this.#port = await new Promise((resolve, reject) => {
      this.#server.bindAsync(address, ServerCredentials.createInsecure(), (cause, bound) => {
        if (!cause) resolve(bound)
        else {
          const message = `cannot listen on ${address} for OTLP over gRPC`
          const hint = 'the port is taken; choose another with --otlp-grpc-port, or "off" for none'
          reject(new AssayError('SERVER_CANNOT_LISTEN', message, { hint, cause }))
        }
      })
    })
  }

  /** Takes no more calls and lets the running ones end; those that have not after `graceMs` are broken off. */
  async close(graceMs: number): Promise<void> {
    this.#isDraining = true
    let timer: NodeJS.Timeout | undefined
    const ended = new Promise<void>((resolve) => {
      this.#server.tryShutdown(() => resolve())
      timer = setTimeout(() => {
        this.#server.forceShutdown()
        resolve()
      }, graceMs)
    })
    await ended
    clearTimeout(timer)
  }

  /** Before a byte of the message is read. */
  readonly #admission: ServerInterceptor = ({ path }, next) => {
    const call = this.#newCall(path)
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, pass) => {
        this.#open.add(call)
        try {
          this.#admit(call, metadata, next.getPeer())
        } catch (thrown) {
          next.sendStatus(this.#failed(call, thrown))
          return
        }
        call.expectMessage(() => {
          const late = new AssayError('QUERY_TIMEOUT', 'the message has not come in time')
          next.sendStatus(this.#failed(call, late))
        })
        this.#admitted.set(metadata, call)
        pass(metadata)
      })
      // Called once, however a call ends.
      .withOnCancel(() => this.#end(call))
      .build()
    const responder = new ResponderBuilder().withStart((start) => start(listener)).build()
    return new ServerInterceptingCall(next, responder)
  }

  #newCall(path: string): GrpcCall {
    return new GrpcCall(path, this.#awaited, this.#options.budget)
  }

  /** @param peer address and port */
  #admit(call: GrpcCall, metadata: Metadata, peer: string): void {
    if (this.#isDraining) {
      throw new AssayError('STORAGE_UNAVAILABLE', 'the server is shutting down')
    }
    const { access, countRequest } = this.#options
    const principal = access.authenticate({
      address: () => peer.replace(/:\d+$/, ''),
      authorization: textOf(metadata, 'authorization'),
      token: textOf(metadata, 'x-bt-auth-token'),
      impersonate: textOf(metadata, 'x-bt-impersonate-user'),
    })
    countRequest(principal)
    call.admit(access.gate(principal, call.traceId), this.#maxMessageBytes)
  }

  async #handle(
    signal: Signal,
    { metadata, request }: ServerUnaryCall<Buffer, Uint8Array>,
    respond: sendUnaryData<Uint8Array>,
  ): Promise<void> {
    const call = this.#admitted.get(metadata) ?? this.#newCall('none')
    try {
      assert(call.gate, 'a call passed without a principal')
      call.receive(request.length)
      const parent = textOf(metadata, 'x-bt-parent')
      const { rejected, message } = await this.#options.receiver.receive(
        { signal, encoding: 'protobuf', body: request, parent },
        call.gate,
      )
      const answer = encodeResponse(rejected, message)
      call.sentBytes = answer.length
      respond(null, answer)
    } catch (thrown) {
      respond(this.#failed(call, thrown))
    } finally {
      call.release()
    }
  }

  /** The status that ends a call. */
  #failed(call: GrpcCall, thrown: unknown) {
    const error = toAssayError(thrown)
    if (error.family === 'internal') {
      const { traceId, path } = call
      this.#options.logger.error({ traceId, path, err: error.cause ?? error }, 'request failed')
    }
    const { code, details, status } = call.fail(error)
    const metadata = new Metadata()
    metadata.set('grpc-status-details-bin', Buffer.from(status))
    return { code, details, metadata }
  }

  #end(call: GrpcCall): void {
    this.#open.delete(call)
    call.end()
    const { path, traceId, httpStatus: status, elapsedMs: ms, sentBytes } = call
    const { onServed, logger } = this.#options
    onServed({ method: 'POST', route: path, status, seconds: ms / 1000, sentBytes })
    const line = { method: 'gRPC', path, status, ms: Math.round(ms * 10) / 10, bytes: sentBytes }
    logger.info({ ...line, traceId }, 'request')
  }
}

/** The first value of that name. */
function textOf(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name)
  return typeof value === 'string' && value !== '' ? value : undefined
}
