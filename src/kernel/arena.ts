/**
 * The kernel arena: the memory that the kernels of `assembly/` work in, one per thread, and their module.
 *
 * Arrays of a scan's batch are made here, so that one kernel finds what another has written; what lies
 * elsewhere, as columns do, is copied in, once per batch (0.5 ns per double: the time that reading it
 * from main memory takes anyway). The memory never grows, because that would detach all arrays in it.
 */
import { readFileSync } from 'node:fs'
import { codeFile } from '../installation.ts'
import type { Kernels } from './exports.ts'

type NumericArray = Float64Array | Int32Array | Uint8Array

/** As far as it is used here; the types of Node leave it out. */
interface WebAssemblyConstructors {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: Kernels }
}

const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyConstructors }
const module = new WebAssembly.Module(readFileSync(codeFile('src/kernel/kernels.wasm')))
export const kernels = new WebAssembly.Instance(module).exports

const { buffer } = kernels.memory
/** Loops work on up to 16 rows at once, so arrays have room for a few rows more than they hold. */
const roomBytes = 128
/** The first bytes are for sums of all rows (`aggregate.ts`), then come tables, sets of rows, and batches. */
export const stateStart = 0
const setsStart = kernels.tablesEnd.value
/** Those of a segment of 170,000 rows take 21 KiB each. */
const setBytes = 2 ** 21
const start = setsStart + setBytes
placeBits(
  new Uint8Array(buffer, kernels.placesOfBits.value, 256 * 8),
  new Uint8Array(buffer, kernels.lanesOfBits.value, 256 * 16),
)

/** For each byte, the places of its bits that are set, one after the other, and those of the bytes of numbers of two. */
function placeBits(places: Uint8Array, lanes: Uint8Array): void {
  for (let byte = 0; byte < 256; byte++) {
    let at = byte * 8
    for (let bit = 0; bit < 8; bit++) {
      if (!(byte & (1 << bit))) continue
      lanes[2 * at] = 2 * bit
      lanes[2 * at + 1] = 2 * bit + 1
      places[at++] = bit
    }
  }
}

let next = start
let isInBatch = false
let batches = 0
/** Where arrays from elsewhere were copied to in this batch. */
const copies = new Map<NumericArray, number>()

/** Makes all memory free: arrays of the batch before must not be used any more. */
export function beginBatch(): void {
  next = start
  isInBatch = true
  batches++
  // To clear a map makes a new table, which took a third of a microsecond.
  if (copies.size > 0) copies.clear()
}

/** No batch's number. */
export const noBatch = 0

/** Differs between batches. */
export function batchNumber(): number {
  return isInBatch ? batches : noBatch
}

/** From now on arrays are made outside, where they may live for long. */
export function endBatches(): void {
  isInBatch = false
  keepsStates = false
}

/** Zeros, or anything. */
export function newNumbers(count: number): Float64Array {
  const place = isInBatch ? reserve(count * 8) : undefined
  return place === undefined ? new Float64Array(count) : new Float64Array(buffer, place, count)
}

export function newCodes(count: number): Int32Array {
  const place = isInBatch ? reserve(count * 4) : undefined
  return place === undefined ? new Int32Array(count) : new Int32Array(buffer, place, count)
}

export function newBytes(count: number): Uint8Array {
  const place = isInBatch ? reserve(count) : undefined
  return place === undefined ? new Uint8Array(count) : new Uint8Array(buffer, place, count)
}

/** Any bytes. */
export function newText(count: number): Buffer {
  const place = isInBatch ? reserve(count) : undefined
  return place === undefined ? Buffer.allocUnsafeSlow(count) : whole.subarray(place, place + count)
}

let nextSet = setsStart

/** Makes the memory of sets free: those that were made before must not be used any more. */
export function beginSets(): void {
  nextSet = setsStart
}

/** So many zeros for a set of rows, which outlives batches; undefined: there is no room. */
export function newSet(count: number): Int32Array | undefined {
  const at = nextSet
  const end = aligned(at + count * 4 + roomBytes)
  if (end > start) return undefined
  nextSet = end
  return codes.subarray(at >> 2, (at >> 2) + count).fill(0)
}

/** Rows that a kernel takes at once, at most: those of a batch. Longer arrays go in chunks. */
export const maximumRows = 8192

/** For copies that are needed for one kernel only. */
const stagingStart = buffer.byteLength - 8 * (maximumRows * 8 + roomBytes)
let nextStaged = stagingStart

/** What one kernel may be given in copies, at least, if these are few. */
export const stagedBytes = 8 * maximumRows * 8

/** Bytes that states leave to batches. */
const batchBytes = 12 * 2 ** 20

/** States take the memory that batches leave, from its end down. */
let lowestState = stagingStart
let keepsStates = false

/**
 * From now on until batches end, states are made in the kernel arena, and those that were made
 * before must not be used any more.
 */
export function beginStates(): void {
  lowestState = stagingStart
  keepsStates = true
}

/** The same beside states that were made before and are still used. */
export function addStates(): void {
  keepsStates = true
}

/** From now on arrays are made outside, and states as before. */
export function endBatch(): void {
  isInBatch = false
}

/** Numbers for the states of groups, all of them `fill`. They outlive batches. */
export function newState(count: number, fill: number): Float64Array {
  const at = reserveState(count * 8)
  const state = at === undefined ? new Float64Array(count) : new Float64Array(buffer, at, count)
  if (at !== undefined || fill !== 0) state.fill(fill)
  return state
}

/** The same for codes that stand for others. */
export function newTable(count: number, fill: number): Int32Array {
  const at = reserveState(count * 4)
  const table = at === undefined ? new Int32Array(count) : new Int32Array(buffer, at, count)
  return table.fill(fill)
}

/** Any bytes, for what states are told apart by. */
export function newStateBytes(count: number): Buffer {
  const at = reserveState(count)
  return at === undefined ? Buffer.allocUnsafeSlow(count) : Buffer.from(buffer, at, count)
}

/** Before each state lies room for one more element (`assembly/aggregate.ts`). */
function reserveState(byteLength: number): number | undefined {
  if (!keepsStates) return undefined
  const at = (lowestState - byteLength) & ~63
  if (at - 64 < start + batchBytes) return undefined
  lowestState = at - 64
  return at
}

/** Whether an array lies in the kernel arena. */
export function isOfKernels(array: NumericArray): boolean {
  return array.buffer === buffer
}

/** The whole memory; a place of bytes is a multiple of the size of elements. */
export const numbers = new Float64Array(buffer)
export const codes = new Int32Array(buffer)
export const bytes = new Uint8Array(buffer)
/** The same: a part of a Buffer is made in half the time of one of other memory. */
export const whole = Buffer.from(buffer)

/** To be called before a kernel's arrays are placed. */
export function beginKernel(): void {
  nextStaged = stagingStart
}

/** Where a kernel finds the first `count` elements of an array. */
export function place(array: NumericArray, count: number): number {
  if (array.buffer === buffer) return array.byteOffset
  // Bytes are cheap to copy again, and change more often.
  const isKept = isInBatch && array.length === count && !(array instanceof Uint8Array)
  if (!isKept) return copyTo(stage(array, count), array, count)
  const copied = copies.get(array)
  if (copied !== undefined) return copied
  const at = reserve(count * array.BYTES_PER_ELEMENT)
  if (at === undefined) return copyTo(stage(array, count), array, count)
  copies.set(array, at)
  return copyTo(at, array, count)
}

/** Bytes that were copied in last, for a kernel of batch `batch`. */
let placed: { buffer: ArrayBufferLike; from: number; length: number; batch: number; at: number } = {
  buffer,
  from: 0,
  length: 0,
  batch: noBatch,
  at: 0,
}

/** Where a kernel finds bytes that do not change: those of a column, which several kernels of a batch may ask for in turn. */
export function placeStored(source: ArrayBufferLike, from: number, length: number): number {
  if (source === buffer) return from
  const isKnown = isInBatch && placed.batch === batches && placed.buffer === source
  if (isKnown && placed.from === from && placed.length === length) return placed.at
  const array = new Uint8Array(source, from, length)
  const at = isInBatch ? reserve(length) : undefined
  if (at === undefined) return copyTo(stage(array, length), array, length)
  placed = { buffer: source, from, length, batch: batches, at }
  return copyTo(at, array, length)
}

/** The same for one kernel alone, which finds them where those before it did: in the nearest cache. */
export function stageStored(source: ArrayBufferLike, from: number, length: number): number {
  if (source === buffer) return from
  const array = new Uint8Array(source, from, length)
  return copyTo(stage(array, length), array, length)
}

/** A table of bytes by code, its last entry, that of null, first. */
export function placeTable(table: Uint8Array): number {
  const at = stage(table, table.length)
  const size = table.length - 1
  bytes[at] = table[size]!
  bytes.set(table.subarray(0, size), at + 1)
  return at
}

/**
 * Where a kernel finds a table of codes: at the place that comes back, and before it that of null, which is the
 * table's last.
 */
export function placeCodeTable(table: Int32Array): number {
  const size = table.length - 1
  const at = isOfKernels(table) ? table.byteOffset : stage(table, table.length) + 64
  if (!isOfKernels(table)) codes.set(table.subarray(0, size), at >> 2)
  codes[(at >> 2) - 1] = table[size]!
  return at
}

/** To be called when a kernel may have changed what a table in the arena has for null. */
export function takeNull(table: Int32Array): void {
  table[table.length - 1] = codes[(table.byteOffset >> 2) - 1]!
}

/** Of so many rows one that is wanted makes it faster to copy all than to fetch those wanted one by one. */
const copiedOf = 12

/**
 * Whether a compiled kernel is to go over some rows of an array: it finds it where it is, or so many
 * of its rows are wanted that it may be copied.
 */
export function isNear(array: NumericArray, wanted: number): boolean {
  if (array.buffer === buffer) return true
  return (
    isInBatch &&
    array.length <= maximumRows &&
    (copies.has(array) || wanted * copiedOf > array.length)
  )
}

/** To be called when an array outside has changed within a batch. */
export function forgetCopy(array: NumericArray): void {
  copies.delete(array)
}

/** Where a kernel writes `count` elements of an array; to be followed by `takeOutput`. */
export function placeOutput(array: NumericArray, count: number): number {
  return array.buffer === buffer ? array.byteOffset : stage(array, count)
}

/** Brings what a kernel has written to where it belongs. */
export function takeOutput(array: NumericArray, count: number, at: number): void {
  if (array.buffer === buffer) return
  if (array instanceof Float64Array) array.set(numbers.subarray(at >> 3, (at >> 3) + count))
  else if (array instanceof Int32Array) array.set(codes.subarray(at >> 2, (at >> 2) + count))
  else array.set(bytes.subarray(at, at + count))
}

/** Calls `part` with chunks of `count` rows that a kernel can take. */
export function inChunks(count: number, part: (from: number, to: number) => void): void {
  for (let from = 0; from < count; from += maximumRows) {
    part(from, Math.min(count, from + maximumRows))
  }
}

/** Has a kernel write `out` from one array, in chunks where these have no room. */
export function applyUnary(
  values: NumericArray,
  count: number,
  out: NumericArray,
  kernel: (values: number, count: number, out: number) => void,
): void {
  if (count > maximumRows) {
    inChunks(count, (from, to) => {
      applyUnary(values.subarray(from, to), to - from, out.subarray(from, to), kernel)
    })
    return
  }
  beginKernel()
  const at = placeOutput(out, count)
  kernel(place(values, count), count, at)
  takeOutput(out, count, at)
}

/** The same from two arrays. */
export function applyBinary(
  left: NumericArray,
  right: NumericArray,
  count: number,
  out: NumericArray,
  kernel: (left: number, right: number, count: number, out: number) => void,
): void {
  if (count > maximumRows) {
    inChunks(count, (from, to) => {
      const [l, r] = [left.subarray(from, to), right.subarray(from, to)]
      applyBinary(l, r, to - from, out.subarray(from, to), kernel)
    })
    return
  }
  beginKernel()
  const [l, r, at] = [place(left, count), place(right, count), placeOutput(out, count)]
  kernel(l, r, count, at)
  takeOutput(out, count, at)
}

function stage(array: NumericArray, count: number): number {
  return stageBytes(count * array.BYTES_PER_ELEMENT)
}

/** Room that one kernel needs, of `stagedBytes` at most for all of it. */
export function stageBytes(byteLength: number): number {
  const at = nextStaged
  nextStaged = aligned(at + byteLength + roomBytes)
  return at
}

/** Bytes that a kernel may still be given in copies. */
export function roomToStage(): number {
  return buffer.byteLength - nextStaged
}

function reserve(byteLength: number): number | undefined {
  const end = aligned(next + byteLength + roomBytes)
  if (end > lowestState) return undefined
  const at = next
  next = end
  return at
}

function aligned(place: number): number {
  return (place + 63) & ~63
}

function copyTo(at: number, array: NumericArray, count: number): number {
  const part = array.length === count ? array : array.subarray(0, count)
  if (part instanceof Float64Array) numbers.set(part, at >> 3)
  else if (part instanceof Int32Array) codes.set(part, at >> 2)
  else bytes.set(part, at)
  return at
}
