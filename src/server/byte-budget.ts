/** Bytes of request bodies that may be in memory at a time, over all requests. */
export class ByteBudget {
  readonly #limit: number
  #used = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False when the bytes do not fit; then nothing is taken. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#limit) return false
    this.#used += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#used -= bytes
  }

  get used(): number {
    return this.#used
  }
}
