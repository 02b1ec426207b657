/** Bodies of blocks of rows, made by `assembly/rows/`. */
import { type RowKernels, rowKernels } from './row-kernels.ts'

/** All of it is in memory that the next rows take. */
export interface PackedRows {
  /** Times, flags and shapes of rows. */
  readonly fixed: Buffer
  readonly table: Buffer
  readonly lengths: Buffer
  readonly members: Buffer
  /** Where among the members those of each row end. */
  readonly ends: Uint32Array
}

/** Rows are at most a block, and their bytes so many. */
const mostRows = 1024
const mostBytes = 2 ** 21
const fixedBytesOfRow = 11

interface Packing {
  readonly kernels: RowKernels
  readonly memory: Buffer
  /** Begin and end of each row. */
  readonly places: Int32Array
}

let packing: Packing | undefined

/** Undefined where the kernels do not take the rows, which are to be packed in another way then. */
export function packRows(rows: readonly Uint8Array[]): PackedRows | undefined {
  packing ??= newPacking()
  const { kernels, memory } = packing
  if (rows.length > mostRows || !load(packing, rows)) return undefined
  if (kernels.packRows(rows.length) === 0) return undefined
  const part = (start: number, length: number) => memory.subarray(start, start + length)
  return {
    fixed: part(kernels.packedFixed.value, rows.length * fixedBytesOfRow),
    table: part(kernels.packedTable.value, kernels.packedTableBytes.value),
    lengths: part(kernels.packedLengths.value, kernels.packedLengthsBytes.value),
    members: part(kernels.packedMembers.value, kernels.packedMembersBytes.value),
    ends: new Uint32Array(memory.buffer, kernels.packedEnds.value, rows.length),
  }
}

function newPacking(): Packing {
  const kernels = rowKernels()
  const { buffer } = kernels.memory
  const places = new Int32Array(buffer, kernels.rowTable.value, mostRows * 2)
  return { kernels, memory: Buffer.from(buffer), places }
}

/** Rows that stand side by side are copied at once. */
function load({ kernels, memory, places }: Packing, rows: readonly Uint8Array[]): boolean {
  const first = kernels.inputPlace.value
  let at = first
  let run = 0
  for (let row = 0; row < rows.length; row++) {
    const { buffer, byteOffset, length } = rows[row]!
    places[row * 2] = at
    at += length
    places[row * 2 + 1] = at
    if (at - first > mostBytes) return false
    const next = rows[row + 1]
    if (next?.buffer === buffer && next.byteOffset === byteOffset + length) continue
    const { byteOffset: start } = rows[run]!
    const bytes = new Uint8Array(buffer, start, byteOffset + length - start)
    memory.set(bytes, places[run * 2]!)
    run = row + 1
  }
  return true
}
