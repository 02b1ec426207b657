import type { Exchange } from './exchange.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'

/**
 * Tells metrics and log of requests that have ended: once those of the same turn are answered, which need not
 * wait for that.
 */
export class RequestNotes {
  readonly #metrics: Metrics
  readonly #logger: Logger
  /** Requests that ended in this turn, with the time each took. */
  #ended: { readonly exchange: Exchange; readonly ms: number }[] = []

  constructor(metrics: Metrics, logger: Logger) {
    this.#metrics = metrics
    this.#logger = logger
  }

  add(exchange: Exchange): void {
    const count = this.#ended.push({ exchange, ms: exchange.elapsedMs })
    if (count === 1) setImmediate(() => this.write())
  }

  /** Tells of those that have ended until now. */
  write(): void {
    const ended = this.#ended
    this.#ended = []
    for (const { exchange, ms } of ended) {
      const { method, path, route, status, traceId, requestId, reason, sender } = exchange
      this.#metrics.served({
        method,
        route,
        status: sender.started ? status : 0,
        seconds: ms / 1000,
        sentBytes: sender.sentBytes,
      })
      const line: Record<string, unknown> = {
        method,
        path: path.slice(0, 500),
        status,
        ms: Math.round(ms * 10) / 10,
        bytes: sender.sentBytes,
        traceId,
      }
      if (requestId !== traceId) line.requestId = requestId
      if (reason) line.aborted = true
      this.#logger.info(line, 'request')
    }
  }
}
