/**
 * Rows of requests, one by one and in TypeScript alone: what `storage/prepare`, most of which is WebAssembly, is held to.
 */

import { randomUUID } from 'node:crypto'
import { AssayError, assert } from '../../src/error.ts'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { MemberNames } from '../../src/json/member-names.ts'
import type { JsonScanner } from '../../src/json/scan.ts'
import { decodeUtf8, requireUtf8 } from '../../src/json/utf8.ts'
import { compareBytes } from '../../src/storage/compare-bytes.ts'
import { openBody } from '../../src/storage/prepare/open-body.ts'
import type { PrepareOptions } from '../../src/storage/prepare/prepare.ts'
import {
  auditMetadata,
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
} from '../../src/storage/prepare/prepare-control.ts'
import {
  checkObject,
  findObject,
  type NamedObject,
} from '../../src/storage/prepare/prepare-object.ts'
import { type FieldShape, FieldShapes } from '../../src/storage/row/field-shapes.ts'
import { type RowAction, type RowControl, rowActions } from '../../src/storage/row/prepared-rows.ts'
import { type ByteSpan, fieldNameBytes, rowFlags } from '../../src/storage/row/row.ts'
import { RowBuilder } from '../../src/storage/row/row-builder.ts'
import { parseJsonBytes } from '../../src/type/parse-json.ts'
import { type ObjectReference, type ObjectType, recordColumn } from '../../src/type/record.ts'
import { formatTimestamp, parseTimestamp } from '../../src/type/time.ts'
import { isObject, type Timestamp, type Value } from '../../src/type/value.ts'
import { writeJson } from '../../src/type/write-json.ts'

interface RowOptions {
  /** The object that all rows belong to; without it each row names its own. */
  readonly object?: ObjectReference
  /** The time of rows that do not say when they were made. */
  readonly nowMs: number
  /** `mostRowsPerRequest` when not given. */
  readonly mostRows?: number
}

interface PreparedRow {
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
  readonly role: 'control' | 'ignored' | 'field'
  readonly shapes: FieldShapes
}

/** The values of members that control, audit metadata as its text; null for what a row does not have. */
type Controls = Record<ControlName, Value>

/** The object of the row before, and how it was named. */
interface FoundObject {
  readonly named: NamedObject
  readonly object: ObjectReference
}

const noKey = { transaction: 0, index: 0 }
const noFields = { extraFields: [], shapes: [] }

/** Of a row: each is a field of its own, by whose name others look for theirs. What is in them has any number. */
const mostMembers = 10_000

function tooManyMembers(path: string): AssayError {
  return new AssayError(
    'REQUEST_TOO_LARGE',
    `${path} has more than ${mostMembers.toLocaleString('en')} fields, which is the most of a row`,
    { path, hint: 'put them into "metadata", or into several rows' },
  )
}

/** Rows with more names than this have maps for rows. */
const keptNames = 4096

function noControls(): Controls {
  return {
    _is_merge: null,
    _object_delete: null,
    _merge_paths: null,
    _array_delete: null,
    _parent_id: null,
    _audit_source: null,
    _audit_metadata: null,
    id: null,
    created: null,
    experiment_id: null,
    dataset_id: null,
    project_id: null,
    prompt_session_id: null,
    log_id: null,
  }
}

function isNamedAlike(a: NamedObject, b: NamedObject): boolean {
  return (
    a.project_id === b.project_id &&
    a.log_id === b.log_id &&
    a.experiment_id === b.experiment_id &&
    a.dataset_id === b.dataset_id &&
    a.prompt_session_id === b.prompt_session_id
  )
}

/** Whether a valid JSON value is a string without escapes, so that it stands for its own bytes. */
function isPlainString(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== 0x22) return false
  for (let at = start + 1; at < end; at++) if (bytes[at] === 0x5c) return false
  return true
}

/** Reads rows from scanners into a builder, one by one. */
class RowPreparer {
  #scanner!: JsonScanner
  readonly #builder: RowBuilder
  #options!: RowOptions
  /** Names by their place in the row before: rows of a request mostly look alike. */
  readonly #names: MemberName[] = []
  readonly #memberNames = new Map<string, MemberName>()
  readonly #inner = new MemberNames()
  readonly #before = new Map<ControlName, { start: number; end: number; value: Value }>()
  #nowText = ''
  #controls = noControls()
  /** Whether the row has such members besides its id and time. */
  #hasControls = false
  /** Where the id stands as JSON writes it, and the time as `formatTimestamp` does; else undefined. */
  #idText: ByteSpan | undefined
  #createdText: ByteSpan | undefined
  #found: FoundObject | undefined
  #hasInputs = false
  #fields: MemberName[] = []
  /** By name: of several fields with one, that of the last. */
  #shapes = new Map<string, FieldShape | undefined>()

  constructor(builder: RowBuilder) {
    this.#builder = builder
  }

  /** Goes on with the rows of another text. */
  begin(scanner: JsonScanner, options: RowOptions): void {
    this.#scanner = scanner
    this.#options = options
    this.#nowText = `"${formatTimestamp(options.nowMs)}"`
    this.#before.clear()
    this.#found = undefined
  }

  /** Prepares the row that the scanner is at; `index` is its place among all, `path` names it in errors. */
  prepare(index: number, path: string): PreparedRow {
    if (!this.#scanner.openObject()) throw invalid(path, 'must be an object')
    this.#controls = noControls()
    this.#hasControls = false
    this.#idText = undefined
    this.#createdText = undefined
    this.#hasInputs = false
    this.#fields = []
    this.#shapes = new Map()
    this.#builder.begin()
    this.#readMembers(path)
    const object = this.#object(path)
    const givenId = this.#controls.id
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
    if (this.#hasInputs) this.#builder.rename('inputs', 'input')
    if (object.type === 'dataset') this.#builder.rename('output', 'expected')
    const isMerge = this.#flag('_is_merge', path)
    const extraFields = this.#extraFields(object.type)
    this.#finishRecord(id, isMerge, path)
    const action = isMerge ? rowActions.merge : rowActions.replace
    return { id, action, object, control, extraFields, shapes: this.#shapesOf() }
  }

  #readMembers(path: string): void {
    const scanner = this.#scanner
    const { bytes } = scanner
    const builder = this.#builder
    for (let place = 0; scanner.nextMember(); place++) {
      if (place >= mostMembers) throw tooManyMembers(path)
      const member = this.#memberName(place)
      const { name, role } = member
      if (role === 'control') {
        this.#readControl(name as ControlName)
      } else if (role === 'ignored') {
        scanner.value()
      } else {
        this.#fields.push(member)
        if (name === 'inputs') this.#hasInputs = true
        builder.rawName(member.stored)
        const start = builder.out.length
        this.#inner.clear()
        scanner.value(builder.out, this.#inner)
        builder.endValue()
        this.#shapes.set(name, member.shapes.find(this.#inner, bytes))
        checkField(name, builder.out.bytes, start, builder.out.length, path)
      }
    }
  }

  #readControl(name: ControlName): void {
    const { bytes } = this.#scanner
    const start = this.#scanner.value()
    const end = this.#scanner.position
    if (name !== 'id' && name !== 'created') {
      this.#hasControls = true
      this.#controls[name] = this.#controlValue(name, start, end)
      return
    }
    const isPlain = isPlainString(bytes, start, end)
    const value = isPlain
      ? decodeUtf8(bytes, start + 1, end - 1)
      : parseJsonBytes(bytes, start, end)
    this.#controls[name] = value
    const text = isPlain ? { start, end } : undefined
    if (name === 'id') this.#idText = text
    else this.#createdText = text
  }

  /** Rows of a request mostly name one object, so the value of the row before is a good guess. */
  #controlValue(name: ControlName, start: number, end: number): Value {
    const { bytes } = this.#scanner
    const guess = this.#before.get(name)
    if (guess && compareBytes(bytes, start, end, bytes, guess.start, guess.end) === 0) {
      return guess.value
    }
    const isKept = name === '_audit_metadata'
    const value = isKept ? auditMetadata(bytes, start, end) : parseJsonBytes(bytes, start, end)
    this.#before.set(name, { start, end, value })
    return value
  }

  #shapesOf(): FieldShape[] {
    return [...this.#shapes.values()].filter((shape) => shape !== undefined)
  }

  #extraFields(type: ObjectType): readonly string[] {
    const isRenamed = this.#hasInputs && !this.#builder.value('inputs')
    const names = this.#fields.map(({ name }) => (isRenamed && name === 'inputs' ? 'input' : name))
    return names.filter((name) => {
      return !recordColumn(name)?.in.includes(type) && this.#builder.value(name)
    })
  }

  #memberName(place: number): MemberName {
    const { bytes, keyStart, keyEnd } = this.#scanner
    const guess = this.#names[place]
    if (guess && compareBytes(bytes, keyStart, keyEnd, guess.bytes, 0, guess.bytes.length) === 0) {
      return guess
    }
    const name = JSON.parse(decodeUtf8(bytes, keyStart, keyEnd)) as string
    const known: MemberName = this.#memberNames.get(name) ?? {
      bytes: bytes.slice(keyStart, keyEnd),
      name,
      stored: fieldNameBytes(name),
      role: isControl(name) ? 'control' : isIgnored(name) ? 'ignored' : 'field',
      shapes: new FieldShapes(name),
    }
    if (this.#memberNames.size < keptNames) this.#memberNames.set(name, known)
    if (place < 64) this.#names[place] = known
    return known
  }

  #object(path: string): ObjectReference {
    const controls = this.#controls
    if (this.#found && isNamedAlike(this.#found.named, controls)) return this.#found.object
    const { experiment_id, dataset_id, project_id, prompt_session_id, log_id } = controls
    const named = { experiment_id, dataset_id, project_id, prompt_session_id, log_id }
    const given = this.#options.object
    if (given) checkObject(named, given, path)
    const object = given ?? findObject(named, path)
    this.#found = { named, object }
    return object
  }

  #flag(name: '_is_merge' | '_object_delete', path: string): boolean {
    const value = this.#controls[name]
    return value !== null && readBoolean(value, `${path}.${name}`)
  }

  #control(row: number, path: string): RowControl | undefined {
    if (!this.#hasControls) return undefined
    const given = <T>(name: ControlName, read: (value: Value, path: string) => T) => {
      const value = this.#controls[name]
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
    const created = formatTimestamp(this.#createdTime(path) ?? this.#options.nowMs)
    const { start, end } = this.#builder.value('comment')!
    const comment = decodeUtf8(this.#builder.out.bytes, start, end)
    const { _audit_source: source, _audit_metadata: metadata } = this.#controls
    this.#builder.restart()
    this.#builder.text(
      'comments',
      `[{"id":${JSON.stringify(id)},"created":"${created}","comment":${comment},` +
        `"source":${writeJson(source)},"metadata":${String(metadata)}}]`,
    )
    this.#finish(0, this.#options.nowMs, false)
  }

  #finishRecord(id: string, isMerge: boolean, path: string): void {
    const builder = this.#builder
    const given = this.#createdTime(path)
    const createdMs = given?.ms ?? this.#options.nowMs
    let flags = given === undefined ? rowFlags.createdGenerated : 0
    if (this.#idText) this.#copyText('id', this.#idText)
    else builder.text('id', JSON.stringify(id))
    if (given === undefined) builder.text('created', this.#nowText)
    else if (this.#isCreatedFormatted()) this.#copyText('created', this.#createdText!)
    else builder.text('created', `"${formatTimestamp(given)}"`)
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

  #createdTime(path: string): Timestamp | undefined {
    const { created } = this.#controls
    if (created === null) return undefined
    const time = typeof created === 'string' ? parseTimestamp(created) : undefined
    if (time) return time
    throw invalid(
      `${path}.created`,
      `is not a time: ${writeJson(created).slice(0, 80)}`,
      'write times as ISO 8601: "2024-01-31T10:30:00.000Z"',
    )
  }

  /** Whether the time was given as `formatTimestamp` writes it; mostly it was. */
  #isCreatedFormatted(): boolean {
    const given = String(this.#controls.created)
    const isFormatted = given.length === 24 && given.endsWith('Z') && !given.endsWith('.000Z')
    return isFormatted && given[10] === 'T' && this.#createdText !== undefined
  }

  /** Adds a member as it stands in the request. */
  #copyText(name: string, { start, end }: ByteSpan): void {
    this.#builder.copy(name, this.#scanner.bytes, start, end)
  }

  #finish(flags: number, createdMs: number, keepNulls: boolean): void {
    const header = { flags, createdMs, paginationKey: noKey, transaction: 0, previous: undefined }
    this.#builder.finish(header, keepNulls)
  }
}

/** The rows of a body of JSON, of the form `events`. */
export function rowsByOracle(
  body: Uint8Array,
  options: PrepareOptions,
): (PreparedRow & { readonly bytes: Buffer })[] {
  requireUtf8(body)
  const scanner = openBody(body)
  const out = new ByteWriter(0)
  const preparer = new RowPreparer(new RowBuilder(out))
  preparer.begin(scanner, options)
  const rows: (PreparedRow & { readonly bytes: Buffer })[] = []
  scanner.openObject()
  scanner.nextMember()
  scanner.openArray()
  while (scanner.nextElement()) {
    out.truncate(0)
    const row = preparer.prepare(rows.length, `events[${rows.length}]`)
    rows.push({ ...row, bytes: Buffer.from(out.view()) })
  }
  assert(!scanner.nextMember(), 'the body has one list')
  scanner.finish()
  return rows
}
