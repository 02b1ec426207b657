/**
 * The kernels over rows that come in (`assembly/rows/`), with a memory of 40 MiB that one task after the other
 * uses, of which only what was used takes room. They are compiled once for all threads, where code in
 * JavaScript is compiled in each.
 */
import { readFileSync } from 'node:fs'
import { codeFile } from '../installation.ts'
import { isDouble } from '../json/number-text.ts'
import { parseTimestamp } from '../type/time.ts'
import { isTimeOfNumber } from '../type/value.ts'

interface Place {
  readonly value: number
}

/** Places are bytes from the memory's start. */
export interface RowKernels {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly eventTable: Place
  readonly inputPlace: Place
  readonly madeIds: Place
  readonly mostInput: Place
  readonly mostMadeIds: Place
  readonly nowText: Place
  readonly outPlace: Place
  readonly ownInput: Place
  readonly rowTable: Place
  readonly eventCount: Place
  readonly madeIdsLeft: Place
  readonly newNameEnd: Place
  readonly newNameStart: Place
  readonly outEnd: Place
  readonly stopReason: Place
  readonly stoppedAt: Place
  readonly packedEnds: Place
  readonly packedFixed: Place
  readonly packedLengths: Place
  readonly packedLengthsBytes: Place
  readonly packedMembers: Place
  readonly packedMembersBytes: Place
  readonly packedTable: Place
  readonly packedTableBytes: Place
  readonly residualPathCount: Place
  readonly residualPaths: Place
  addName(start: number, end: number, role: number, check: number, isTold: number): number
  fillMadeIds(): void
  forgetNames(): void
  forgetNamings(): void
  forgetSeen(): void
  keepNaming(ofDataset: number): number
  scanOwnRow(createdMs: number, object: number): number
  scanRows(from: number, mostRowCount: number): number
  setNow(ms: number, length: number): void
  beginShred(
    firstNode: number,
    nodeCount: number,
    rowCount: number,
    mostValueBytes: number,
    from: number,
  ): number
  shredRow(row: number, start: number, length: number): number
  finishShred(): number
  packRows(rowCount: number): number
}

/** As far as it is used here; the types of Node leave it out. */
interface WebAssemblyConstructors {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: RowKernels }
}

let kernels: RowKernels | undefined

/** Those of this thread. */
export function rowKernels(): RowKernels {
  kernels ??= load()
  return kernels
}

function load(): RowKernels {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyConstructors }
  const module = new WebAssembly.Module(readFileSync(codeFile('src/kernel/rows.wasm')))
  let memory: Buffer
  const readNumber = (start: number, end: number) => {
    const text = memory.toString('latin1', start, end)
    const value = Number(text)
    return isHeld(text, value) ? value : Number.NaN
  }
  const writeStoredName = (start: number, end: number, target: number) =>
    memory.write(JSON.stringify(JSON.parse(memory.toString('utf8', start, end))), target)
  const isTold = (start: number, end: number) =>
    Number(isTimeOfNumber(parseTimestamp(memory.toString('utf8', start, end))))
  const imports = { 'shred-rows': { readNumber, writeStoredName, isTimeOfNumber: isTold } }
  const { exports } = new WebAssembly.Instance(module, imports)
  memory = Buffer.from(exports.memory.buffer)
  return exports
}

/** Whether a double holds the number that is written there: not integers that are too large, nor many digits. */
function isHeld(text: string, value: number): boolean {
  return /[.eE]/.test(text) ? isDouble(text, value) : Number.isSafeInteger(value)
}
