/**
 * Texts in the making: end to end in one buffer, and told apart by their bytes where they repeat.
 *
 * Short ranges are copied, compared and hashed four bytes at a time through a DataView. That takes
 * a quarter of the time of a loop over bytes, and a native call makes an object for every range,
 * which pays only from some hundred bytes on.
 */
import { copyWhole } from '../../json/copy-bytes.ts'
import type { Texts } from '../../vector/column.ts'
import { moveSlots } from '../../vector/text-index.ts'

/** Bytes, and a view whose positions are theirs. */
export interface ByteSource {
  readonly bytes: Buffer
  readonly view: DataView
}

export function byteSource(bytes: Buffer): ByteSource {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) }
}

/** Up to so many bytes words are faster than a native call. */
const nearBytes = 256

/** Hash and code of each text, side by side; code -1: free. */
const firstSlots = 128

export class TextPool implements ByteSource {
  count = 0
  byteLength = 0
  bytes: Buffer
  view: DataView
  offsets: Int32Array
  /** Slots that `codeOf` has tried in vain. */
  probes = 0
  #slots = new Int32Array(0)

  constructor(expectedCount: number, expectedBytes = 1024) {
    this.bytes = Buffer.allocUnsafeSlow(expectedBytes)
    this.view = byteSource(this.bytes).view
    this.offsets = new Int32Array(expectedCount + 1)
  }

  push(source: ByteSource, start: number, end: number): void {
    const from = this.byteLength
    const to = from + end - start
    if (to > this.bytes.length) this.#grow(to)
    copyWords(source, start, end, this, from)
    this.byteLength = to
    this.pushEmpty()
  }

  pushEmpty(): void {
    this.count++
    if (this.count === this.offsets.length) this.#growOffsets(this.count * 2)
    this.offsets[this.count] = this.byteLength
  }

  /** Adds the texts `first` to `end` of `texts`. */
  pushAll(texts: Texts, first: number, end: number): void {
    const from = texts.offsets[first]!
    const shift = this.byteLength - from
    const byteLength = texts.offsets[end]! + shift
    if (byteLength > this.bytes.length) this.#grow(byteLength)
    copyWhole(texts.bytes.subarray(from, texts.offsets[end]), this.bytes, this.byteLength)
    const count = this.count + end - first
    if (count >= this.offsets.length) this.#growOffsets(count + 1)
    for (let i = first + 1, at = this.count; i <= end; i++) {
      this.offsets[++at] = texts.offsets[i]! + shift
    }
    this.count = count
    this.byteLength = byteLength
  }

  pop(): void {
    this.count--
    this.byteLength = this.offsets[this.count]!
  }

  /** The number of the text, which is added when it is new; not to be mixed with `push`. */
  codeOf(source: ByteSource, start: number, end: number): number {
    if (this.count * 4 >= this.#slots.length) this.#rehash()
    const hash = hashWords(source, start, end)
    const slots = this.#slots
    const mask = slots.length - 2
    let slot = (hash << 1) & mask
    for (;;) {
      const code = slots[slot + 1]!
      if (code === -1) break
      if (slots[slot] === hash && this.equals(code, source, start, end)) return code
      slot = (slot + 2) & mask
      this.probes++
    }
    slots[slot] = hash
    slots[slot + 1] = this.count
    this.push(source, start, end)
    return this.count - 1
  }

  equals(code: number, source: ByteSource, start: number, end: number): boolean {
    const from = this.offsets[code]!
    if (this.offsets[code + 1]! - from !== end - start) return false
    return equalWords(this, from, source, start, end - start)
  }

  finish(): Texts {
    return {
      bytes: this.bytes.subarray(0, this.byteLength),
      offsets: this.offsets.subarray(0, this.count + 1),
    }
  }

  #grow(needed: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(bytes, 0, 0, this.byteLength)
    this.bytes = bytes
    this.view = byteSource(bytes).view
  }

  #growOffsets(needed: number): void {
    const offsets = new Int32Array(Math.max(needed, this.offsets.length * 2))
    offsets.set(this.offsets)
    this.offsets = offsets
  }

  #rehash(): void {
    const old = this.#slots
    const slots = new Int32Array(Math.max(firstSlots, old.length * 2)).fill(-1)
    moveSlots(old, slots)
    this.#slots = slots
  }
}

export function equalWords(
  a: ByteSource,
  aStart: number,
  b: ByteSource,
  bStart: number,
  length: number,
): boolean {
  if (length > nearBytes) {
    return a.bytes.compare(b.bytes, bStart, bStart + length, aStart, aStart + length) === 0
  }
  const first = a.view
  const second = b.view
  let i = 0
  for (; i + 4 <= length; i += 4) {
    if (first.getInt32(aStart + i, true) !== second.getInt32(bStart + i, true)) return false
  }
  for (; i < length; i++) {
    if (first.getUint8(aStart + i) !== second.getUint8(bStart + i)) return false
  }
  return true
}

function copyWords(
  source: ByteSource,
  start: number,
  end: number,
  target: ByteSource,
  at: number,
): void {
  const length = end - start
  if (length > nearBytes) {
    copyWhole(source.bytes.subarray(start, end), target.bytes, at)
    return
  }
  const from = source.view
  const to = target.view
  let i = 0
  for (; i + 4 <= length; i += 4) to.setInt32(at + i, from.getInt32(start + i, true), true)
  for (; i < length; i++) to.setUint8(at + i, from.getUint8(start + i))
}

/** Of a long text, 64 bytes at its ends and 64 spread over it: alike texts are rare, and compared. */
function hashWords({ view }: ByteSource, start: number, end: number): number {
  const length = end - start
  let hash = length
  if (length <= 128) {
    let i = start
    for (; i + 4 <= end; i += 4) hash = mix(hash, view.getInt32(i, true))
    for (; i < end; i++) hash = Math.imul(hash ^ view.getUint8(i), 0x01000193)
  } else {
    const stride = length >> 4
    for (let i = 0; i < 32; i += 4) {
      hash = mix(hash, view.getInt32(start + i, true))
      hash = mix(hash, view.getInt32(end - 4 - i, true))
    }
    for (let i = 0; i < 16; i++) hash = mix(hash, view.getInt32(start + i * stride, true))
  }
  return hash ^ (hash >>> 15)
}

function mix(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x9e3779b1)
  return product ^ (product >>> 15)
}
