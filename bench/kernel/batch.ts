import { Random } from '../../src/demo/random.ts'
import type { Texts } from '../../src/vector/column.ts'

/** One scan batch of columns as kernels see them. */
export interface KernelBatch {
  readonly rowCount: number
  /** No nulls. */
  readonly numbers: Float64Array
  /** One in ten is null. */
  readonly gappyNumbers: Float64Array
  readonly times: Float64Array
  /** Codes of eight dictionary entries; one in twenty is null. */
  readonly codes: Int32Array
  /** Groups from 0 to 7. */
  readonly groups: Int32Array
  /** 0, 1 and 2 (unknown). */
  readonly truths: Uint8Array
  readonly otherTruths: Uint8Array
  /** Half of the rows. */
  readonly selection: Int32Array
  readonly bits: Uint8Array
  /** About 80 bytes each, mostly ASCII; one in fifty has the word `refund`. */
  readonly texts: Texts
}

const words = [
  'refund',
  'order',
  'invoice',
  'the',
  'model',
  'naïve',
  'answer',
  'token',
  'Überweisung',
]

export function makeBatch(seed: number, rowCount: number): KernelBatch {
  const random = new Random(seed)
  const rows = Array.from({ length: rowCount }, (_, row) => row)
  return {
    rowCount,
    numbers: Float64Array.from(rows, () => random.next() * 1000),
    gappyNumbers: Float64Array.from(rows, () =>
      random.chance(0.1) ? Number.NaN : random.next() * 1000,
    ),
    times: Float64Array.from(rows, (row) => 1.767e12 + row * 1234),
    codes: Int32Array.from(rows, () => (random.chance(0.05) ? -1 : random.below(8))),
    groups: Int32Array.from(rows, () => random.below(8)),
    truths: Uint8Array.from(rows, () => random.below(3)),
    otherTruths: Uint8Array.from(rows, () => random.below(3)),
    selection: Int32Array.from(rows.filter(() => random.chance(0.5))),
    bits: Uint8Array.from({ length: (rowCount + 7) >> 3 }, () => random.below(256)),
    texts: makeTexts(random, rowCount),
  }
}

function makeTexts(random: Random, rowCount: number): Texts {
  const texts = Array.from({ length: rowCount }, () => {
    const text = Array.from({ length: 12 }, () => random.pick(words)).join(' ')
    return random.chance(0.02) ? `${text} refund` : text
  })
  const offsets = new Int32Array(rowCount + 1)
  for (const [i, text] of texts.entries()) offsets[i + 1] = offsets[i]! + Buffer.byteLength(text)
  return { bytes: Buffer.from(texts.join('')), offsets }
}
