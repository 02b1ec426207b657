/**
 * How rows of the same fields are printed: what stands between their values is the same for all of an object,
 * and so is the order in which they come. Prints what `writeRow` does, which finds that out for each row.
 */
import { LRUCache } from 'lru-cache'
import { ByteWriter } from '../../json/byte-writer.ts'
import {
  type MemberBytes,
  type ProgramStep,
  printMembers,
  RowProgram,
} from '../../kernel/print-row.ts'
import { compareBytes } from '../compare-bytes.ts'
import { type ObjectConstants, type PrintedColumn, type PrintedKeys, plainLayout } from './row.ts'

const comma = 0x2c
const colon = 0x3a
const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d

/** What rows have in common that have the same fields in the same order; by the order of their text. */
export interface RowShape {
  /** Of each field by its name. */
  readonly ranks: readonly number[]
  /** With their quotes. */
  readonly nameLengths: readonly number[]
  /** Of values (`packed-value.ts`). */
  readonly kinds: readonly number[]
}

/** Blocks of rows share them: each takes some kilobytes. */
const sharedPrintings = 256
const shared = new LRUCache<string, RowPrinting>({ max: sharedPrintings })

/** Those that were used last of other blocks, the newest first: rows of most have the same fields. */
const keptRecent = 8
let recent: readonly RowPrinting[] = []

type Derive = NonNullable<PrintedColumn['derive']>

export class RowPrinting {
  readonly #object: ObjectConstants
  readonly #shape: RowShape
  readonly #program: RowProgram
  /** What values are derived from a row's keys, in the order in which they are printed. */
  readonly #derived: readonly Derive[]

  private constructor(object: ObjectConstants, shape: RowShape, names: readonly Uint8Array[]) {
    this.#object = object
    this.#shape = shape
    const steps: { member: number | undefined; end: number }[] = []
    const derived: Derive[] = []
    const text = new ByteWriter(512)
    let firstEnd = 0
    const endText = () => {
      const last = steps.at(-1)
      if (last) last.end = text.length
      else firstEnd = text.length
    }
    const columns = plainLayout[object.type]
    let column = 0
    let field = 0
    text.byte(openBrace)
    while (column < columns.length || field < names.length) {
      if (column + field > 0) text.byte(comma)
      const next = columns[column]
      const name = names[field]
      const order = name && next ? compareNames(next.name, name) : name ? 1 : -1
      if (order >= 0) {
        endText()
        steps.push({ member: field++, end: 0 })
        if (order === 0) column++
        continue
      }
      column++
      const { derive, isOfObject } = next!
      if (!derive) {
        text.copy(next!.absent)
        continue
      }
      text.copy(next!.name)
      text.byte(colon)
      text.byte(quote)
      if (isOfObject) text.text(derive(noKeys, object))
      else {
        endText()
        steps.push({ member: undefined, end: 0 })
        derived.push(derive)
      }
      text.byte(quote)
    }
    text.byte(closeBrace)
    endText()
    const { ranks, kinds } = shape
    const fields = ranks.map((rank, i) => ({ rank, name: names[rank]!, kind: kinds[i]! }))
    this.#program = new RowProgram(fields, steps satisfies ProgramStep[], text.view(), firstEnd)
    this.#derived = derived
  }

  /** @param names of the row's members, quoted, by rank */
  static of(object: ObjectConstants, shape: RowShape, names: readonly Buffer[]): RowPrinting {
    const { type, id, projectId, organizationId } = object
    const { ranks, kinds } = shape
    const texts = names.map((name) => name.toString('latin1'))
    const order = `${ranks.join()} ${kinds.join()}`
    const key = [type, id, projectId, organizationId, order, ...texts].join('\0')
    let printing = shared.get(key)
    if (!printing) {
      printing = new RowPrinting(object, shape, names)
      shared.set(key, printing)
    }
    recent = [printing, ...recent.filter((each) => each !== printing)].slice(0, keptRecent)
    return printing
  }

  /** One that was used lately for rows that may have the same names. */
  static like(object: ObjectConstants, shape: RowShape): RowPrinting | undefined {
    return recent.find((printing) => printing.isOf(object) && isSame(printing.#shape, shape))
  }

  isOf({ type, id, projectId, organizationId }: ObjectConstants): boolean {
    const known = this.#object
    return (
      known.id === id &&
      known.type === type &&
      known.projectId === projectId &&
      known.organizationId === organizationId
    )
  }

  /**
   * Appends a row. Undefined, and nothing is appended, when its names are not those that it is made for, or it is too
   * large; otherwise how many bytes names, colons and values have.
   *
   * @param lengths has those of its values, as varints, from `from` to `to`
   */
  print(
    members: MemberBytes,
    lengths: Uint8Array,
    from: number,
    to: number,
    keys: PrintedKeys,
    out: ByteWriter,
  ): number | undefined {
    const derived: string[] = []
    for (const derive of this.#derived) derived.push(derive(keys, this.#object))
    const printed = printMembers(this.#program, members, lengths, from, to, derived)
    if (!printed) return undefined
    out.copy(printed.text)
    return printed.memberBytes
  }
}

const noKeys: PrintedKeys = { paginationKey: { transaction: 0, index: 0 }, transaction: 0 }

function isSame(a: RowShape, b: RowShape): boolean {
  return (
    areSame(a.ranks, b.ranks) && areSame(a.nameLengths, b.nameLengths) && areSame(a.kinds, b.kinds)
  )
}

function areSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((number, i) => number === b[i])
}

function compareNames(a: Uint8Array, b: Uint8Array): number {
  return compareBytes(a, 0, a.length, b, 0, b.length)
}
