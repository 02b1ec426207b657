/** Pairs of codes up to this product are looked up in an array, more in a Map. */
const maximumDensePairs = 1 << 20

/** Numbers distinct pairs of codes. */
export class PairCodes {
  readonly firsts: number[] = []
  readonly seconds: number[] = []
  #stride = 64
  #dense: Int32Array | undefined = new Int32Array(64 * 64).fill(-1)
  readonly #sparse = new Map<number, number>()

  get count(): number {
    return this.firsts.length
  }

  /** `firsts[i] = code of the pair (firsts[i], seconds[i])` */
  combine(firsts: Int32Array, seconds: Int32Array, count: number): void {
    let [highestFirst, highestSecond] = [0, 0]
    for (let i = 0; i < count; i++) {
      if (firsts[i]! > highestFirst) highestFirst = firsts[i]!
      if (seconds[i]! > highestSecond) highestSecond = seconds[i]!
    }
    this.#reserve(highestFirst + 1, highestSecond + 1)
    const dense = this.#dense
    if (!dense) {
      for (let i = 0; i < count; i++) firsts[i] = this.#sparseCode(firsts[i]!, seconds[i]!)
      return
    }
    const stride = this.#stride
    for (let i = 0; i < count; i++) {
      const slot = firsts[i]! * stride + seconds[i]!
      let code = dense[slot]!
      if (code < 0) {
        code = this.#add(firsts[i]!, seconds[i]!)
        dense[slot] = code
      }
      firsts[i] = code
    }
  }

  #add(first: number, second: number): number {
    this.firsts.push(first)
    return this.seconds.push(second) - 1
  }

  #sparseCode(first: number, second: number): number {
    const key = first * 2 ** 26 + second
    let code = this.#sparse.get(key)
    if (code === undefined) {
      code = this.#add(first, second)
      this.#sparse.set(key, code)
    }
    return code
  }

  #reserve(rows: number, columns: number): void {
    if (!this.#dense) return
    if (columns <= this.#stride && rows * this.#stride <= this.#dense.length) return
    const stride = Math.max(this.#stride, 2 ** Math.ceil(Math.log2(columns)))
    const size = 2 ** Math.ceil(Math.log2(rows)) * stride
    if (size > maximumDensePairs) {
      this.#dense = undefined
      for (let code = 0; code < this.count; code++) {
        this.#sparse.set(this.firsts[code]! * 2 ** 26 + this.seconds[code]!, code)
      }
      return
    }
    this.#stride = stride
    this.#dense = new Int32Array(Math.max(size, this.#dense.length)).fill(-1)
    for (let code = 0; code < this.count; code++) {
      this.#dense[this.firsts[code]! * stride + this.seconds[code]!] = code
    }
  }
}
