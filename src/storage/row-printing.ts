/**
 * How rows of the same fields are printed: what stands between their values is the same for all of an object,
 * and so is the order in which they come. Prints what `writeRow` does, which finds that out for each row.
 */
import { LRUCache } from 'lru-cache'
import { ByteWriter } from '../json/byte-writer.ts'
import { compareBytes } from './compare-bytes.ts'
import { type ObjectConstants, type PrintedColumn, type PrintedKeys, plainLayout } from './row.ts'

const comma = 0x2c
const colon = 0x3a
const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d

/** A member of the row by its rank, or a value that is made of its keys; then the text up to `end`. */
interface Step {
  readonly member: number | undefined
  readonly derive: PrintedColumn['derive']
  end: number
}

/** Blocks of rows share them: each takes some kilobytes. */
const sharedPrintings = 256
const shared = new LRUCache<string, RowPrinting>({ max: sharedPrintings })

/** Appends the member of that rank. */
type AppendMember = (rank: number) => void

export class RowPrinting {
  readonly #object: ObjectConstants
  /** Of the row's members, by rank. */
  readonly #names: readonly Uint8Array[]
  /** All that stands between values, end to end. */
  readonly #text: Uint8Array
  /** Where in it what comes before the first value ends. */
  readonly #firstEnd: number
  readonly #steps: readonly Step[]

  private constructor(object: ObjectConstants, names: readonly Uint8Array[]) {
    this.#object = object
    this.#names = names
    const steps: Step[] = []
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
        steps.push({ member: field++, derive: undefined, end: 0 })
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
        steps.push({ member: undefined, derive, end: 0 })
      }
      text.byte(quote)
    }
    text.byte(closeBrace)
    endText()
    this.#text = text.view()
    this.#firstEnd = firstEnd
    this.#steps = steps
  }

  /** @param names of the row's members, quoted, by rank */
  static of(object: ObjectConstants, names: readonly Buffer[]): RowPrinting {
    const { type, id, projectId, organizationId } = object
    const texts = names.map((name) => name.toString('latin1'))
    const key = [type, id, projectId, organizationId, ...texts].join('\0')
    const known = shared.get(key)
    if (known) return known
    const printing = new RowPrinting(object, names)
    shared.set(key, printing)
    return printing
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

  /** Whether the member of that rank has the name that begins at `start`, as long as the one that it is made for. */
  isNamed(rank: number, bytes: Uint8Array, start: number): boolean {
    const name = this.#names[rank]!
    for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false
    return true
  }

  print(keys: PrintedKeys, out: ByteWriter, append: AppendMember): void {
    const text = this.#text
    let start = this.#firstEnd
    out.copy(text, 0, start)
    for (const { member, derive, end } of this.#steps) {
      if (member === undefined) out.text(derive!(keys, this.#object))
      else append(member)
      out.copy(text, start, end)
      start = end
    }
  }
}

const noKeys: PrintedKeys = { paginationKey: { transaction: 0, index: 0 }, transaction: 0 }

function compareNames(a: Uint8Array, b: Uint8Array): number {
  return compareBytes(a, 0, a.length, b, 0, b.length)
}
