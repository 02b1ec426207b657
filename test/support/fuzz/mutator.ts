/** Inputs that are near to right ones, from a seed and a corpus. */
import { RandomChoice } from '../random-choice.ts'

/** Longer inputs find nothing that these do not, and take longer. */
const longest = 8192

/** What integers of any width are mostly wrong at. */
const edges = [
  0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
]

/** What means something in many formats. */
const usualWords = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\n',
  '\r\n',
  '\0',
  '\ufeff',
  '\\u0000',
  '\\ud800',
  '😀',
  'null',
  'true',
  '1e999',
  '-0',
  '9007199254740993',
  '1'.repeat(40),
  '__proto__',
  'constructor',
  '../',
  "'",
  '%',
  '--',
  ' ',
  '"a":',
  '[[[[[[[[',
  '{"":',
  '0x',
  'NaN',
  'é',
] as const

export class Mutator {
  readonly #random: RandomChoice
  readonly #corpus: Uint8Array[]
  readonly #words: readonly Buffer[]

  constructor(seed: number, corpus: readonly Uint8Array[], words: readonly string[] = []) {
    this.#random = new RandomChoice(seed)
    this.#corpus = [...corpus]
    this.#words = [...usualWords, ...words].map((word) => Buffer.from(word))
  }

  /** Adds what has shown something new: later inputs are made of it, too. */
  keep(input: Uint8Array): void {
    this.#corpus.push(Buffer.from(input))
  }

  get corpusSize(): number {
    return this.#corpus.length
  }

  next(): Buffer {
    const random = this.#random
    let bytes: Buffer = Buffer.from(random.pick(this.#corpus))
    for (let times = random.below(6); times >= 0; times--) bytes = this.#mutate(bytes)
    return bytes.subarray(0, longest)
  }

  #mutate(bytes: Buffer): Buffer {
    const random = this.#random
    const start = random.below(bytes.length + 1)
    const end = Math.min(bytes.length, start + random.below(random.below(4) === 0 ? 64 : 6))
    const before = bytes.subarray(0, start)
    const after = bytes.subarray(end)
    const changed = Buffer.from(bytes)
    switch (random.below(11)) {
      case 0:
        if (start < changed.length) changed[start]! ^= 1 << random.below(8)
        return changed
      case 1:
        if (start < changed.length) changed[start] = random.below(256)
        return changed
      case 2:
        return this.#withInteger(changed, start)
      case 3:
        return Buffer.concat([before, after])
      case 4:
        return before.length > 0 ? before : changed
      case 5:
        return Buffer.concat([before, random.pick(this.#words), bytes.subarray(start)])
      case 6:
        return Buffer.concat([before, random.pick(this.#words), after])
      case 7: {
        const times = random.below(50) === 0 ? 1000 : 2 + random.below(3)
        const repeated = Array.from({ length: times }, () => bytes.subarray(start, end))
        return Buffer.concat([before, ...repeated, after])
      }
      case 8: {
        const other = random.pick(this.#corpus)
        const from = random.below(other.length + 1)
        const part = other.subarray(from, from + random.below(200))
        return Buffer.concat([before, part, bytes.subarray(start)])
      }
      case 9: {
        const noise = Buffer.from(Array.from({ length: random.below(9) }, () => random.below(256)))
        return Buffer.concat([before, noise, after])
      }
      default: {
        const other = random.pick(this.#corpus)
        return Buffer.concat([before, other.subarray(random.below(other.length + 1))])
      }
    }
  }

  #withInteger(bytes: Buffer, start: number): Buffer {
    const random = this.#random
    const width = random.pick([1, 2, 4])
    if (start + width > bytes.length) return bytes
    const value = random.pick(edges) + random.below(3) - 1
    const bits = value < 0 ? 2 ** (8 * width) - 1 : value % 2 ** (8 * width)
    if (random.below(2) === 0) bytes.writeUIntBE(bits, start, width)
    else bytes.writeUIntLE(bits, start, width)
    return bytes
  }
}
