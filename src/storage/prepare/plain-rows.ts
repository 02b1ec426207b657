/**
 * Takes rows by the loops of `kernel/row-scan.ts`: those that are usual, as most are, many at a time, and others one by
 * one as `normal-row.ts` writes them.
 */
import { MemberNames } from '../../json/member-names.ts'
import { JsonScanner, jsonKind } from '../../json/scan.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { firstNames, nameRoles, RowScan, scanStops, valueChecks } from '../../kernel/row-scan.ts'
import {
  type ObjectReference,
  type RecordColumn,
  recordColumn,
  recordColumns,
} from '../../type/record.ts'
import { formatTimestamp } from '../../type/time.ts'
import { type FieldShape, FieldShapes } from '../row/field-shapes.ts'
import { fieldNameBytes } from '../row/row.ts'
import type { RowBuilder } from '../row/row-builder.ts'
import type { RowOptions } from './normal-row.ts'
import { fieldType, isControl, isIgnored } from './prepare-control.ts'

/** With so many names, all are forgotten before the next request. */
const keptNames = 3000

/** Names whose members say more than the text of a field. */
const roles: ReadonlyMap<string, number> = new Map([
  ['id', nameRoles.id],
  ['created', nameRoles.created],
  ['span_id', nameRoles.span],
  ['root_span_id', nameRoles.root],
  ['span_parents', nameRoles.parents],
  ['experiment_id', nameRoles.naming],
  ['dataset_id', nameRoles.naming],
  ['project_id', nameRoles.naming],
  ['prompt_session_id', nameRoles.naming],
  ['log_id', nameRoles.naming],
  // Another name of `expected` in datasets.
  ['output', nameRoles.output],
  // Another name of `input`, and rows that are comments.
  ['inputs', nameRoles.odd],
  ['comment', nameRoles.odd],
])

const flagChecks: ReadonlyMap<string, number> = new Map([
  ['_is_merge', valueChecks.mayMerge],
  ['_object_delete', valueChecks.mayBeFalse],
])

interface KnownName {
  readonly name: string
  readonly column: RecordColumn | undefined
}

/** What is new about a row's object. */
export interface RowNews {
  readonly row: number
  readonly extraField: string | undefined
  readonly shape: FieldShape | undefined
}

/** The same of one row of the object, which was not taken here but is at the end of `builder`. */
export function* fieldsOf(
  object: ObjectReference,
  builder: RowBuilder,
): Generator<Omit<RowNews, 'row'>> {
  const { bytes } = builder.out
  const inner = new MemberNames()
  for (const { start, valueStart, end } of builder.kept()) {
    const name = JSON.parse(decodeUtf8(bytes, start, valueStart - 1)) as string
    inner.clear()
    if (jsonKind(bytes[valueStart]!) === 'object') {
      new JsonScanner(bytes, valueStart, end).value(undefined, inner)
    }
    yield {
      extraField: isExtra(recordColumn(name), object) ? name : undefined,
      shape: new FieldShapes(name).find(inner, bytes),
    }
  }
}

function isExtra(column: RecordColumn | undefined, object: ObjectReference): boolean {
  return !column?.in.includes(object.type)
}

/** One per thread, as its memory is large: requests take turns. */
export class PlainRows {
  readonly #scan = new RowScan()
  readonly #inner = new MemberNames()
  #names: KnownName[] = []
  /** By name, of the collection at hand. */
  readonly #shapes = new Map<number, FieldShapes>()
  /** How rows name their objects, by number. */
  #namings: ObjectReference[] = []
  #given: ObjectReference | undefined
  /** Whether the next row is not to be taken, and whether it names its object in a new way. */
  #isOdd = false
  #isNewlyNamed = false

  constructor() {
    this.#addFirstNames()
  }

  /** Forgets the requests before, whose rows are not of the same collection. */
  beginCollection(): void {
    this.#shapes.clear()
    this.#scan.close()
    if (this.#names.length > keptNames) this.#forgetNames()
    this.#scan.forgetSeen()
  }

  /** Goes on with the rows of another text. */
  begin({ object, nowMs }: RowOptions): void {
    this.#scan.setNow(nowMs, `"${formatTimestamp(nowMs)}"`)
    if (object?.type !== this.#given?.type || object?.id !== this.#given?.id) this.#forgetNamings()
    this.#given = object
    this.#isOdd = false
    this.#isNewlyNamed = false
  }

  /** Lets the text go. */
  end(): void {
    this.#scan.close()
  }

  /** Takes rows from the one on that the scanner is at; returns how many. They are gone with the next call. */
  take(scanner: JsonScanner): number {
    if (this.#isOdd) {
      this.#isOdd = false
      return 0
    }
    for (;;) {
      const count = this.#scan.scan(scanner.bytes, scanner.position, scanner.end)
      scanner.position = this.#scan.position
      const { stop } = this.#scan
      this.#isNewlyNamed = stop === scanStops.newNaming
      const isKnownNow = stop === scanStops.newName && this.#addNewName() >= 0
      const goesOn = stop === scanStops.end || stop === scanStops.fullTable || isKnownNow
      if (count > 0) {
        this.#isOdd = !goesOn
        return count
      }
      if (!isKnownNow) return 0
    }
  }

  /**
   * Takes one row that `normal-row.ts` has written; returns whether it could: a row may be too large. It is gone with
   * the next call.
   *
   * @param object the place of the row's object in the collection
   * @param createdMs when the row was made; undefined if its text says that
   */
  takeAlone(text: Uint8Array, object: number, createdMs: number | undefined): boolean {
    for (let hasForgotten = false; ; ) {
      if (this.#scan.scanAlone(text, object, createdMs)) return true
      if (this.#scan.stop !== scanStops.newName) return false
      if (this.#addNewName() >= 0) continue
      if (hasForgotten) return false
      this.#forgetNames()
      hasForgotten = true
    }
  }

  /** Tells of which object the row is that was not taken. */
  leftRow(object: ObjectReference): void {
    if (!this.#isNewlyNamed) return
    this.#isNewlyNamed = false
    const number = this.#scan.keepNaming(object.type === 'dataset')
    if (number < 0) this.#forgetNamings()
    else this.#namings[number] = object
  }

  /** The rows, end to end. */
  get bytes(): Buffer {
    return this.#scan.bytes
  }

  rowEnd(row: number): number {
    return this.#scan.rowEnd(row)
  }

  id(row: number): string {
    return this.#scan.id(row)
  }

  merges(row: number): boolean {
    return this.#scan.merges(row)
  }

  /** Whether a row may name an attachment. */
  hasAttachment(row: number): boolean {
    return this.#scan.hasAttachment(row)
  }

  object(row: number): ObjectReference {
    return this.#namings[this.#scan.naming(row)]!
  }

  /**
   * What rows have that none before of the same collection and object had.
   *
   * @param object of a row that was taken alone
   */
  news(object?: ObjectReference): RowNews[] {
    const { bytes } = this.#scan
    return this.#scan.events().map(({ row, name, start, end }) => {
      const { name: text, column } = this.#names[name]!
      const of = object ?? this.object(row)
      this.#inner.clear()
      new JsonScanner(bytes, start, end).value(undefined, this.#inner)
      return {
        row,
        extraField: isExtra(column, of) ? text : undefined,
        shape: this.#shapesOf(name, text).find(this.#inner, bytes),
      }
    })
  }

  #forgetNames(): void {
    this.#scan.close()
    this.#scan.forgetNames()
    this.#names = []
    this.#shapes.clear()
    this.#addFirstNames()
    this.#forgetNamings()
  }

  #forgetNamings(): void {
    this.#scan.forgetNamings()
    // What rows are known to have is by numbers that are given anew.
    this.#scan.forgetSeen()
    this.#namings = []
  }

  #shapesOf(name: number, text: string): FieldShapes {
    const known = this.#shapes.get(name) ?? new FieldShapes(text)
    this.#shapes.set(name, known)
    return known
  }

  #addFirstNames(): void {
    for (const name of firstNames) {
      const { role, check, isTold, column } = meaningOf(name)
      this.#scan.addName(fieldNameBytes(name), role, check, isTold)
      this.#names.push({ name, column })
    }
  }

  #addNewName(): number {
    const quoted = this.#scan.newName
    const name = JSON.parse(decodeUtf8(quoted)) as string
    const { role, check, isTold, column } = meaningOf(name)
    const isAsStored = quoted.equals(fieldNameBytes(name))
    const number = this.#scan.addNewName(isAsStored ? role : nameRoles.odd, check, isTold)
    if (number >= 0) this.#names[number] = { name, column }
    return number
  }
}

interface NameMeaning {
  readonly role: number
  readonly check: number
  readonly isTold: boolean
  readonly column: RecordColumn | undefined
}

const typeCount = new Set(recordColumns.flatMap((column) => column.in)).size

function meaningOf(name: string): NameMeaning {
  const column = recordColumn(name)
  const role = roleOf(name)
  const check = flagChecks.get(name) ?? valueChecks[fieldType(name) ?? 'any']
  const isField = role === nameRoles.field || role >= nameRoles.span
  return { role, check, isTold: isField && column?.in.length !== typeCount, column }
}

function roleOf(name: string): number {
  const role = roles.get(name)
  if (role !== undefined) return role
  if (isControl(name)) return nameRoles.flag
  return isIgnored(name) ? nameRoles.ignored : nameRoles.field
}
