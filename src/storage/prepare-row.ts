/** One row of a request: from its JSON text to an encoded row and what to do with it. */
import { randomUUID } from 'node:crypto'
import { MemberNames } from '../json/member-names.ts'
import type { JsonScanner } from '../json/scan.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { parseJsonBytes } from '../type/parse-json.ts'
import {
  type ObjectReference,
  type ObjectType,
  type RecordColumn,
  recordColumn,
} from '../type/record.ts'
import { formatTimestamp, parseTimestamp } from '../type/time.ts'
import { isObject, type Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import { compareBytes } from './compare-bytes.ts'
import { type FieldShape, FieldShapes } from './field-shapes.ts'
import {
  type ControlName,
  checkField,
  invalid,
  isControl,
  isIgnored,
  readArrayDeletes,
  readAuditMetadata,
  readBoolean,
  readMergePaths,
  readString,
} from './prepare-control.ts'
import { checkObject, findObject, type NamedObject, noObject } from './prepare-object.ts'
import { type RowAction, type RowControl, rowActions } from './prepared-rows.ts'
import { fieldNameBytes, rowFlags } from './row.ts'
import type { RowBuilder } from './row-builder.ts'

export interface RowOptions {
  /** The object that all rows belong to; without it each row names its own. */
  readonly object?: ObjectReference
  /** The time of rows that do not say when they were made. */
  readonly nowMs: number
}

export interface PreparedRow {
  readonly id: string
  readonly action: RowAction
  readonly object: ObjectReference
  readonly control: RowControl | undefined
  /** Names of its fields that are no columns of the object's type. */
  readonly extraFields: readonly string[]
  /** Of its fields that are objects. */
  readonly shapes: readonly FieldShape[]
}

/** A member name as a row spells it, and what it means. */
interface MemberName {
  readonly bytes: Uint8Array
  readonly name: string
  /** As `fieldNameBytes` gives it. */
  readonly stored: Uint8Array
  readonly column: RecordColumn | undefined
  readonly shapes: FieldShapes
}

const noKey = { transaction: 0, index: 0 }
const noFields = { extraFields: [], shapes: [] }

/** Rows with more names than this have maps for rows. */
const keptNames = 4096

/** Reads rows from scanners into a builder, one by one. */
export class RowPreparer {
  #scanner!: JsonScanner
  readonly #builder: RowBuilder
  #options!: RowOptions
  /** Names by their place in the row before: rows of a request mostly look alike. */
  readonly #names: MemberName[] = []
  readonly #memberNames = new Map<string, MemberName>()
  readonly #inner = new MemberNames()
  readonly #before = new Map<ControlName, { start: number; end: number; value: Value }>()
  #nowText = ''
  #controls: { [name in ControlName]?: Value } = {}
  #fields: MemberName[] = []
  #shapes: FieldShape[] = []

  constructor(builder: RowBuilder) {
    this.#builder = builder
  }

  /** Goes on with the rows of another text. */
  begin(scanner: JsonScanner, options: RowOptions): void {
    this.#scanner = scanner
    this.#options = options
    this.#nowText = `"${formatTimestamp(options.nowMs)}"`
    this.#before.clear()
  }

  /** Prepares the row that the scanner is at; `index` is its place among all, `path` names it in errors. */
  prepare(index: number, path: string): PreparedRow {
    if (!this.#scanner.openObject()) throw invalid(path, 'must be an object')
    this.#controls = {}
    this.#fields = []
    this.#shapes = []
    this.#builder.begin()
    this.#readMembers(path)
    const object = this.#object(path)
    const givenId = this.#controls.id ?? null
    const id = givenId === null ? randomUUID() : readString(givenId, `${path}.id`)
    const control = this.#control(index, path)
    if (this.#flag('_object_delete', path)) {
      if (givenId === null) throw invalid(`${path}.id`, 'is missing', 'a delete names its record')
      this.#finishDelete(id)
      return { id, action: rowActions.delete, object, control: undefined, ...noFields }
    }
    const commentOn = this.#commentTarget()
    if (commentOn !== undefined) {
      this.#finishComment(id, path)
      const action = rowActions.comment
      return { id, action, object, control: { row: index, commentOn }, ...noFields }
    }
    if (this.#fields.some(({ name }) => name === 'inputs')) this.#builder.rename('inputs', 'input')
    if (object.type === 'dataset') this.#builder.rename('output', 'expected')
    const isMerge = this.#flag('_is_merge', path)
    const extraFields = this.#extraFields(object.type)
    this.#finishRecord(id, isMerge, path)
    const action = isMerge ? rowActions.merge : rowActions.replace
    return { id, action, object, control, extraFields, shapes: this.#shapes }
  }

  #readMembers(path: string): void {
    const scanner = this.#scanner
    const builder = this.#builder
    for (let place = 0; scanner.nextMember(); place++) {
      const member = this.#memberName(place)
      const { name } = member
      if (isControl(name)) {
        this.#controls[name] = this.#controlValue(name)
      } else if (isIgnored(name)) {
        scanner.value()
      } else {
        this.#fields.push(member)
        builder.rawName(member.stored)
        const start = builder.out.length
        this.#inner.clear()
        scanner.value(builder.out, this.#inner)
        builder.endValue()
        const shape = member.shapes.find(this.#inner, scanner.bytes)
        if (shape) this.#shapes.push(shape)
        checkField(name, builder.out.bytes, start, builder.out.length, path)
      }
    }
  }

  /** Rows of a request mostly name one object, so the value of the row before is a good guess. */
  #controlValue(name: ControlName): Value {
    const { bytes } = this.#scanner
    const start = this.#scanner.value()
    const end = this.#scanner.position
    const guess = this.#before.get(name)
    if (guess && compareBytes(bytes, start, end, bytes, guess.start, guess.end) === 0) {
      return guess.value
    }
    const value = parseJsonBytes(bytes, start, end)
    this.#before.set(name, { start, end, value })
    return value
  }

  #extraFields(type: ObjectType): readonly string[] {
    const extra: string[] = []
    for (const { name, column } of this.#fields) {
      if (!column?.in.includes(type) && this.#builder.value(name)) extra.push(name)
    }
    return extra
  }

  #memberName(place: number): MemberName {
    const { bytes, keyStart, keyEnd } = this.#scanner
    const guess = this.#names[place]
    if (guess && compareBytes(bytes, keyStart, keyEnd, guess.bytes, 0, guess.bytes.length) === 0) {
      return guess
    }
    const name = JSON.parse(decodeUtf8(bytes, keyStart, keyEnd)) as string
    const known = this.#memberNames.get(name) ?? {
      bytes: bytes.slice(keyStart, keyEnd),
      name,
      stored: fieldNameBytes(name),
      column: recordColumn(name),
      shapes: new FieldShapes(name),
    }
    if (this.#memberNames.size < keptNames) this.#memberNames.set(name, known)
    if (place < 64) this.#names[place] = known
    return known
  }

  #object(path: string): ObjectReference {
    const named: NamedObject = noObject()
    for (const member of Object.keys(named) as (keyof NamedObject)[]) {
      named[member] = this.#controls[member] ?? null
    }
    const { object } = this.#options
    if (!object) return findObject(named, path)
    checkObject(named, object, path)
    return object
  }

  #flag(name: '_is_merge' | '_object_delete', path: string): boolean {
    const value = this.#controls[name] ?? null
    return value !== null && readBoolean(value, `${path}.${name}`)
  }

  #control(row: number, path: string): RowControl | undefined {
    const given = <T>(name: ControlName, read: (value: Value, path: string) => T) => {
      const value = this.#controls[name] ?? null
      return value === null ? undefined : read(value, `${path}.${name}`)
    }
    const mergePaths = given('_merge_paths', readMergePaths)
    const arrayDeletes = given('_array_delete', readArrayDeletes)
    const parentId = given('_parent_id', readString)
    const source = given('_audit_source', readString)
    const metadata = given('_audit_metadata', readAuditMetadata)
    const hasAudit = source !== undefined || metadata !== undefined
    if (!(mergePaths || arrayDeletes || parentId !== undefined || hasAudit)) return undefined
    return {
      row,
      ...(mergePaths && { mergePaths }),
      ...(arrayDeletes && { arrayDeletes }),
      ...(parentId !== undefined && { parentId }),
      ...(hasAudit && {
        audit: { ...(source !== undefined && { source }), ...(metadata && { metadata }) },
      }),
    }
  }

  /**
   * Id of the record that the row comments on, if it is a comment: it has nothing but a `comment`
   * and the `origin` that it is about.
   */
  #commentTarget(): string | undefined {
    const builder = this.#builder
    if (builder.memberCount !== 2 || !builder.value('comment')) return undefined
    const origin = this.#value('origin')
    return origin !== null && isObject(origin) && typeof origin.id === 'string'
      ? origin.id
      : undefined
  }

  #value(name: string): Value {
    const span = this.#builder.value(name)
    return span ? parseJsonBytes(this.#builder.out.bytes, span.start, span.end) : null
  }

  #finishDelete(id: string): void {
    this.#builder.restart()
    this.#builder.text('id', JSON.stringify(id))
    this.#builder.finish({
      flags: rowFlags.tombstone,
      createdMs: this.#options.nowMs,
      paginationKey: noKey,
      transaction: 0,
      previous: undefined,
    })
  }

  #finishComment(id: string, path: string): void {
    const comment = {
      id,
      created: formatTimestamp(this.#createdMs(path) ?? this.#options.nowMs),
      comment: this.#value('comment'),
      source: this.#controls._audit_source ?? null,
      metadata: this.#controls._audit_metadata ?? null,
    }
    this.#builder.restart()
    this.#builder.text('comments', writeJson([comment]))
    this.#finish(0, this.#options.nowMs, false)
  }

  #finishRecord(id: string, isMerge: boolean, path: string): void {
    const builder = this.#builder
    const given = this.#createdMs(path)
    const createdMs = given ?? this.#options.nowMs
    let flags = given === undefined ? rowFlags.createdGenerated : 0
    builder.text('id', JSON.stringify(id))
    builder.text('created', given === undefined ? this.#nowText : `"${this.#createdText(given)}"`)
    if (!builder.value('span_id')) {
      flags |= rowFlags.spanGenerated
      builder.text('span_id', `"${randomUUID()}"`)
    }
    if (!builder.value('root_span_id')) {
      flags |= rowFlags.rootGenerated
      const { start, end } = builder.value('span_id')!
      builder.text('root_span_id', decodeUtf8(builder.out.bytes, start, end))
    }
    const parents = builder.value('span_parents')
    builder.text('is_root', parents && parents.end - parents.start > 2 ? 'false' : 'true')
    this.#finish(flags, createdMs, isMerge)
  }

  #createdMs(path: string): number | undefined {
    const created = this.#controls.created ?? null
    if (created === null) return undefined
    const ms = typeof created === 'string' ? parseTimestamp(created) : undefined
    if (ms !== undefined) return ms
    throw invalid(
      `${path}.created`,
      `is not a time: ${writeJson(created).slice(0, 80)}`,
      'write times as ISO 8601: "2024-01-31T10:30:00.000Z"',
    )
  }

  /** As `formatTimestamp` writes it; mostly that is how it was given. */
  #createdText(ms: number): string {
    const given = String(this.#controls.created)
    const isFormatted = given.length === 24 && given.endsWith('Z') && !given.endsWith('.000Z')
    return isFormatted && given[10] === 'T' ? given : formatTimestamp(ms)
  }

  #finish(flags: number, createdMs: number, keepNulls: boolean): void {
    const header = { flags, createdMs, paginationKey: noKey, transaction: 0, previous: undefined }
    this.#builder.finish(header, keepNulls)
  }
}
