/**
 * Rows of the row store as rows of RowBinary, written by `assembly/export/` without a string or an object per row. Its
 * memory of 40 MiB is the thread's own, of which only what was used takes room.
 */
import { readFileSync } from 'node:fs'
import { codeFile } from '../installation.ts'
import type { ByteWriter } from '../json/byte-writer.ts'
import { foldAccents } from '../type/fold-accents.ts'
import { parseJson } from '../type/parse-json.ts'
import { isOfPart, isOfWord, wordClass } from '../type/word-class.ts'
import { writeSortedJson } from '../type/write-json.ts'

interface Place {
  readonly value: number
}

/** Places are bytes from the memory's start. */
interface ExportKernels {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly asciiTable: Place
  readonly foldings: Place
  readonly mostFoldingBytes: Place
  readonly mostPages: Place
  readonly mostRowBytes: Place
  readonly outPlace: Place
  readonly pages: Place
  readonly pageTable: Place
  readonly rowPlace: Place
  start(): void
  addFieldName(length: number, role: number): number
  outEnd(): number
  clearOut(): void
  addRow(
    length: number,
    object: number,
    versionTransaction: number,
    versionIndex: number,
    by: number,
  ): number
}

/** As far as it is used here; the types of Node leave it out. */
interface WebAssemblyConstructors {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: ExportKernels }
}

/** What fields are to the loops, as `assembly/export/export-rows.ts` numbers it. */
export const fieldRoles = {
  id: 1,
  span_id: 2,
  root_span_id: 3,
  is_root: 4,
  created: 5,
  tags: 6,
  input: 7,
  output: 8,
  expected: 9,
  error: 10,
  metadata: 11,
  span_attributes: 12,
} as const
/** Of fields that rows do not keep. */
const unkeptRole = 13

const pageCharacters = 256
const manyFlag = 0x40000000
const leftFlag = 0x80000000

/** Characters that fold by what is beside them, and halves of pairs. */
const isLeft = /[\u0338\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u3099\u309a\ud800-\udfff]|\u200d/

/** What is written is taken in parts of so many bytes. */
const takenBytes = 4 * 2 ** 20

export class ExportRows {
  readonly #kernels: ExportKernels
  readonly #memory: Buffer
  readonly #integers: Uint32Array
  readonly #rowPlace: number
  /** Where rows are put to be added: who makes them there saves a copy. */
  readonly rowMemory: Buffer
  readonly #outPlace: number
  #pageCount = 0
  #foldingsEnd: number

  /** @param unkept names of fields that are left out, except in the column `body` */
  constructor(unkept: readonly string[]) {
    const { WebAssembly } = globalThis as unknown as {
      readonly WebAssembly: WebAssemblyConstructors
    }
    const module = new WebAssembly.Module(readFileSync(codeFile('src/kernel/export.wasm')))
    const outside = {
      readNumber: (start: number, end: number) => Number(this.#latin(start, end)),
      isLongInteger: (start: number, end: number) => Number(this.#isLongInteger(start, end)),
      sortArray: (start: number, end: number, target: number, room: number) =>
        this.#sortArray(start, end, target, room),
      makePage: (number: number) => Number(this.#makePage(number)),
    }
    const { exports } = new WebAssembly.Instance(module, { outside })
    this.#kernels = exports
    this.#memory = Buffer.from(exports.memory.buffer)
    this.#integers = new Uint32Array(exports.memory.buffer)
    this.#rowPlace = exports.rowPlace.value
    this.#outPlace = exports.outPlace.value
    const start = exports.rowPlace.value
    this.rowMemory = this.#memory.subarray(start, start + exports.mostRowBytes.value)
    this.#foldingsEnd = exports.foldings.value
    exports.start()
    this.#makeAscii()
    for (const [name, role] of Object.entries(fieldRoles)) this.#addField(name, role)
    for (const name of unkept) this.#addField(name, unkeptRole)
  }

  /**
   * Adds a row, and moves what is there to `out` now and then. Returns whether it could: what is unusual about a row is
   * left to `clickhouse/row-encoder.ts`.
   */
  add(
    row: Uint8Array,
    object: number,
    version: { readonly transaction: number; readonly index: number },
    by: number | undefined,
    out: ByteWriter,
  ): boolean {
    const { length } = row
    if (length > this.rowMemory.length) return false
    const isThere = row.buffer === this.#memory.buffer && row.byteOffset === this.#rowPlace
    if (!isThere) this.rowMemory.set(row)
    const { transaction, index } = version
    if (this.#kernels.addRow(length, object, transaction, index, by ?? -1) === 0) return false
    if (this.#kernels.outEnd() - this.#outPlace > takenBytes) this.take(out)
    return true
  }

  /** How many bytes were not taken yet. */
  get pending(): number {
    return this.#kernels.outEnd() - this.#outPlace
  }

  /** Appends the rows that were added to `out`. */
  take(out: ByteWriter): void {
    out.copy(this.#memory, this.#outPlace, this.#kernels.outEnd())
    this.#kernels.clearOut()
  }

  #addField(name: string, role: number): void {
    const length = this.#memory.write(JSON.stringify(name), this.#rowPlace)
    if (this.#kernels.addFieldName(length, role) === 0) throw new Error(`no room for ${name}`)
  }

  #latin(start: number, end: number): string {
    return this.#memory.toString('latin1', start, end)
  }

  #isLongInteger(start: number, end: number): boolean {
    const text = this.#latin(start, end)
    return BigInt(text) !== BigInt(Number(text))
  }

  #sortArray(start: number, end: number, target: number, room: number): number {
    const text = writeSortedJson(parseJson(this.#memory.toString('utf8', start, end)))
    const length = Buffer.byteLength(text)
    if (length > room) return -1
    this.#memory.write(text, target)
    return length * 2 + Number(length !== end - start)
  }

  #makeAscii(): void {
    const table = this.#kernels.asciiTable.value
    for (let code = 0; code < 0x80; code++) {
      const isKept = isOfWord(wordClass(code))
      this.#memory[table + code] = isKept ? foldAccents(String.fromCharCode(code)).charCodeAt(0) : 0
    }
  }

  #makePage(number: number): boolean {
    const { pages, pageTable, mostPages } = this.#kernels
    if (this.#pageCount === mostPages.value) return false
    const page = pages.value + this.#pageCount * pageCharacters * 4
    for (let i = 0; i < pageCharacters; i++) {
      this.#integers[(page >> 2) + i] = this.#foldingOf(number * pageCharacters + i)
    }
    this.#pageCount++
    this.#integers[(pageTable.value >> 2) + number] = page
    return true
  }

  /** As `assembly/export/cut-words.ts` describes it. */
  #foldingOf(codePoint: number): number {
    const character = String.fromCodePoint(codePoint)
    if (isLeft.test(character) && codePoint < 0x10000) return leftFlag
    const folded = Array.from(foldAccents(character), foldedCharacter)
    if (folded.length === 1) return folded[0]!
    const { foldings, mostFoldingBytes } = this.#kernels
    const place = this.#foldingsEnd
    const end = place + (folded.length + 1) * 4
    if (end > foldings.value + mostFoldingBytes.value) return leftFlag
    this.#integers.set([folded.length, ...folded], place >> 2)
    this.#foldingsEnd = end
    return manyFlag + place
  }
}

function foldedCharacter(character: string): number {
  const codePoint = character.codePointAt(0)!
  const found = wordClass(codePoint)
  const part = isOfPart(found) ? 2 : 1
  return codePoint + (isOfWord(found) ? part : 0) * 2 ** 24
}
