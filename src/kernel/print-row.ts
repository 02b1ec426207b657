/** Prints rows of blocks where they were decompressed: their members in another order, with what stands between them. */
import {
  beginKernel,
  codes,
  kernels,
  bytes as memoryBytes,
  roomToStage,
  stageBytes,
} from './arena.ts'

/** A field of a row, in the order of its text. */
export interface ProgramField {
  readonly rank: number
  /** With its quotes. */
  readonly name: Uint8Array
  /** `storage/row/packed-value.ts` */
  readonly kind: number
}

/** What is printed, and the text up to `end` behind it. */
export interface ProgramStep {
  /** A member by its rank; otherwise the next derived value. */
  readonly member: number | undefined
  readonly end: number
}

/** How rows of the same fields are printed (`assembly/print-row.ts`). */
export class RowProgram {
  readonly bytes: Uint8Array
  readonly fieldCount: number

  /** @param first where in the text what comes before the first step ends */
  constructor(
    fields: readonly ProgramField[],
    steps: readonly ProgramStep[],
    text: Uint8Array,
    first: number,
  ) {
    this.fieldCount = fields.length
    const numbers = [fields.length, steps.length, first, 0]
    let nameAt = text.length
    for (const { rank, name, kind } of fields) {
      numbers.push(rank, name.length, kind, nameAt)
      nameAt += name.length
    }
    let start = first
    let derived = 0
    for (const { member, end } of steps) {
      numbers.push(member ?? --derived, start, end)
      start = end
    }
    const names = fields.map(({ name }) => name)
    this.bytes = Buffer.concat([Buffer.from(Int32Array.from(numbers).buffer), text, ...names])
  }
}

/** Bytes that a row has. */
export interface MemberBytes {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

export interface PrintedMembers {
  /** Written over by the next kernel. */
  readonly text: Buffer
  /** Of names, colons and values. */
  readonly memberBytes: number
}

const programMemberBytes = 16
/** In it is how many bytes names, colons and values have. */
const resultNumber = 3
/** Of each piece of memory, with what may be read and written beyond it. */
const slackBytes = 256
/** Digits of an identifier take twice as many bytes as it does, a UUID a little more. */
const mostExpanded = 3

const memory = Buffer.from(memoryBytes.buffer)

/**
 * Prints a row; undefined when its members are not those that the program is for, or there is no room for them.
 * Members that lie in the kernel arena must be what the last kernel has written there.
 *
 * @param lengths of the values, as varints, from `from` to `to`
 * @param derived of ASCII
 */
export function printMembers(
  program: RowProgram,
  { bytes, start, end }: MemberBytes,
  lengths: Uint8Array,
  from: number,
  to: number,
  derived: readonly string[],
): PrintedMembers | undefined {
  const isNear = bytes.buffer === memoryBytes.buffer
  if (!isNear) beginKernel()
  const length = end - start
  let derivedBytes = 0
  for (const text of derived) derivedBytes += lengthBytes + text.length
  const outBytes = program.bytes.length + derivedBytes + length * mostExpanded + slackBytes
  const rankedBytes = program.fieldCount * programMemberBytes
  const copied = program.bytes.length + rankedBytes + derivedBytes + (to - from) + length
  if (outBytes + copied + slackBytes * 6 > roomToStage()) return undefined
  const source = isNear ? bytes.byteOffset + start : stageBytes(length)
  if (!isNear) memoryBytes.set(bytes.subarray(start, end), source)
  const at = stageBytes(program.bytes.length)
  memoryBytes.set(program.bytes, at)
  const ranked = stageBytes(rankedBytes)
  const lengthsAt = stageBytes(to - from)
  for (let i = from; i < to; i++) memoryBytes[lengthsAt + i - from] = lengths[i]!
  const derivedAt = stageBytes(derivedBytes)
  placeTexts(derived, derivedAt)
  const out = stageBytes(outBytes)
  const outEnd = kernels.printRow(at, lengthsAt, source, source + length, derivedAt, ranked, out)
  if (outEnd === 0) return undefined
  return { text: memory.subarray(out, outEnd), memberBytes: codes[(at >> 2) + resultNumber]! }
}

const lengthBytes = 4

/** Each behind its length. */
function placeTexts(texts: readonly string[], start: number): void {
  let at = start
  for (const text of texts) {
    memory.writeUInt32LE(text.length, at)
    at += lengthBytes
    for (let i = 0; i < text.length; i++) memoryBytes[at++] = text.charCodeAt(i)
  }
}
