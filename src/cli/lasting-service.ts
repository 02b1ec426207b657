import { type Config, type Logger, type Service, startService } from './service.ts'

/** How often it is looked whether the store has to be opened anew. */
const checkEveryMs = 250

/** Running requests fail anyway once nothing can be read. */
const graceMs = 1000

/**
 * A service that is closed and started again, in the same process and on the same port, once LMDB has given up
 * one of its environments (`storage/environment.ts`), or the copy of a query node is to be made anew. It goes by its files
 * alone then, of which every transaction that was acknowledged is a part.
 */
export class LastingService {
  #service: Service
  readonly #config: Config
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout
  #reopening: Promise<void> | undefined
  #isClosed = false

  private constructor(service: Service, config: Config, logger: Logger) {
    this.#service = service
    this.#logger = logger
    this.#config = config
    this.#timer = setInterval(() => this.#check(), checkEveryMs).unref()
  }

  static async start(config: Config, logger: Logger): Promise<LastingService> {
    return new LastingService(await startService(config, logger), config, logger)
  }

  /** The one that runs, or ran last. */
  get current(): Service {
    return this.#service
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#reopening
    await this.#service.close()
  }

  #check(): void {
    if (this.#reopening || this.#isClosed) return
    const reason = this.#service.mustReopen()
    if (reason === undefined) return
    this.#logger.error({}, `${reason}: the data directory is closed and opened anew`)
    this.#reopening = this.#reopen().catch((error: unknown) => {
      this.#logger.fatal(
        { err: error },
        'the data directory cannot be opened anew; check the disk, then start the service again',
      )
      process.exit(1)
    })
  }

  async #reopen(): Promise<void> {
    await this.#service.close(graceMs)
    if (this.#isClosed) return
    const port = Number(new URL(this.#service.url).port)
    this.#service = await startService({ ...this.#config, port }, this.#logger)
    this.#reopening = undefined
    this.#logger.info({ url: this.#service.url }, 'listening again')
  }
}
