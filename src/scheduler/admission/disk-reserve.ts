/**
 * A part of the disk that nothing may grow into, so that there is room to read, to sign in, to delete, and to
 * merge what was deleted. What would grow is refused with 507 below it, and goes on once there is room.
 */
import { statfsSync } from 'node:fs'
import { AssayError } from '../../error.ts'

/** The default: so many bytes, or a share of a disk where that is less. */
const usualBytes = 512 * 2 ** 20
const usualShare = 0.05

/** How long a look at the disk counts. What is written meanwhile is counted. */
const lookEveryMs = 1000

const mebibyte = 2 ** 20

export interface DiskReserveOptions {
  readonly directory: string
  /** Undefined: the default; 0: nothing is refused. */
  readonly leastFreeBytes: number | undefined
  /** Bytes that are free within the file of the records. */
  readonly freeWithin?: () => number
  readonly logger?:
    | {
        warn(details: object, message: string): void
        info(details: object, message: string): void
      }
    | undefined
}

export interface DiskStatus {
  /** Of the disk of the data directory, for who may write there. */
  readonly availableBytes: number
  readonly reserveBytes: number
  /** Whether what would grow is refused. */
  readonly isReached: boolean
}

export class DiskReserve {
  readonly #options: DiskReserveOptions
  readonly #reserveBytes: number
  #lookedAt = Number.NEGATIVE_INFINITY
  #availableBytes = 0
  /** What may still be written before the reserve is reached, as far as is known. */
  #room = 0
  /** What flushes that run may write, and nothing else may. */
  #claimed = 0
  #isReached = false

  constructor(options: DiskReserveOptions) {
    this.#options = options
    const { blocks, bsize } = statfsSync(options.directory)
    const usual = Math.min(usualBytes, Math.floor(blocks * bsize * usualShare))
    this.#reserveBytes = options.leastFreeBytes ?? usual
  }

  get status(): DiskStatus {
    this.#look(0)
    return {
      availableBytes: this.#availableBytes,
      reserveBytes: this.#reserveBytes,
      isReached: this.#isReached,
    }
  }

  /** Whether what can wait should, as it would take room for a time. */
  get isReached(): boolean {
    this.#look(0)
    return this.#isReached
  }

  /** Throws STORAGE_RESERVED when so many bytes more would reach into the reserve. */
  requireRoom(bytes: number): void {
    if (this.#reserveBytes === 0) return
    this.#look(bytes)
    if (this.#room < bytes || this.#isReached) throw this.#refusal()
    this.#room -= bytes
  }

  /**
   * Keeps room for so many bytes of segments, which no insert gets, until the function that it returns is called; what is
   * written of them meanwhile counts twice.
   *
   * Throws STORAGE_UNAVAILABLE where they would reach into the last quarter of the reserve: without it there is no room
   * to take from disk what was deleted.
   */
  claimSegmentRoom(bytes: number): () => void {
    if (this.#reserveBytes === 0) return () => undefined
    const { availableBytes } = this.status
    if (availableBytes - bytes >= this.#lastQuarter) return this.#claim(bytes)
    throw new AssayError(
      'STORAGE_UNAVAILABLE',
      `the segments cannot be written: they take up to ${Math.ceil(bytes / mebibyte)} MiB, and the disk of the data directory has ${Math.floor(availableBytes / mebibyte)} MiB left`,
      { hint: 'delete what is not needed any more, or free space on that disk' },
    )
  }

  #claim(bytes: number): () => void {
    this.#claimed += bytes
    this.#lookedAt = Number.NEGATIVE_INFINITY
    return () => {
      this.#claimed -= bytes
      this.#lookedAt = Number.NEGATIVE_INFINITY
    }
  }

  get #lastQuarter(): number {
    return this.#reserveBytes / 4
  }

  #look(bytes: number): void {
    const now = performance.now()
    const isRecent = now - this.#lookedAt < lookEveryMs
    if (isRecent && !this.#isReached && this.#room >= bytes) return
    this.#lookedAt = now
    const { bavail, bsize } = statfsSync(this.#options.directory)
    this.#availableBytes = bavail * bsize
    const room = this.#roomOf(this.#availableBytes, bytes)
    this.#room = room - this.#claimed
    const isReached = this.#reserveBytes > 0 && room <= 0
    if (isReached !== this.#isReached) this.#tell(isReached)
    this.#isReached = isReached
  }

  /**
   * What is free within the file of the records is taken before the file grows, so it counts; but as it may be in
   * pieces that are too short, a quarter of the reserve has to be free on the disk itself.
   */
  #roomOf(available: number, wanted: number): number {
    const free = available - this.#reserveBytes
    if (free > wanted || available < this.#lastQuarter) return free
    return free + (this.#options.freeWithin?.() ?? 0)
  }

  #tell(isReached: boolean): void {
    const details = { availableBytes: this.#availableBytes, reserveBytes: this.#reserveBytes }
    const { logger } = this.#options
    if (isReached) logger?.warn(details, 'the disk is nearly full: nothing that grows is taken')
    else logger?.info(details, 'the disk has room again')
  }

  #refusal(): AssayError {
    const free = Math.floor(this.#availableBytes / mebibyte)
    const reserve = Math.ceil(this.#reserveBytes / mebibyte)
    const claimed = Math.ceil(this.#claimed / mebibyte)
    const flush = claimed > 0 ? `, and a flush that runs may take ${claimed} MiB` : ''
    return new AssayError(
      'STORAGE_RESERVED',
      `the disk of the data directory has ${free} MiB left, of which ${reserve} MiB are kept free${flush}`,
      {
        hint:
          'delete what is not needed any more, free space on that disk, or start the service with ' +
          'a smaller --min-free-mb; reading and deleting go on meanwhile',
      },
    )
  }
}
