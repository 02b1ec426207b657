/**
 * Rows of requests that are unusual: one that has a name twice or spelled in another way, that is a comment or deletes,
 * names its object in a new way, or is not valid. All that can be wrong with a row is told here. What is left of it is
 * written as a usual row, and then goes the way of all.
 */

import { AssayError } from '../../error.ts'
import { copyOf } from '../../json/copy-bytes.ts'
import type { JsonScanner } from '../../json/scan.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { parseJson, parseJsonBytes } from '../../type/parse-json.ts'
import type { ObjectReference } from '../../type/record.ts'
import { formatTimestamp, parseTimestamp } from '../../type/time.ts'
import { isObject, type Value } from '../../type/value.ts'
import { writeJson } from '../../type/write-json.ts'
import { compareBytes } from '../compare-bytes.ts'
import { type RowAction, type RowControl, rowActions } from '../row/prepared-rows.ts'
import { fieldNameBytes } from '../row/row.ts'
import type { RowBuilder } from '../row/row-builder.ts'
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
} from './prepare-control.ts'
import { checkObject, findObject, type NamedObject } from './prepare-object.ts'

export interface RowOptions {
  /** The object that all rows belong to; without it each row names its own. */
  readonly object?: ObjectReference
  /** Who writes; undefined where nobody is known. */
  readonly userId?: string
  /** The time of rows that do not say when they were made. */
  readonly nowMs: number
  /** `mostRowsPerRequest` when not given. */
  readonly mostRows?: number
}

/** What a row of a request is, but for its fields. */
export interface NormalRow {
  /** Undefined: it gets one. */
  readonly id: string | undefined
  readonly action: RowAction
  readonly object: ObjectReference
  readonly control: RowControl | undefined
  /** When it was made; undefined: now. */
  readonly created: GivenTime | undefined
  /** Of a comment: the JSON text of what it says besides its id and time. */
  readonly comment: Comment | undefined
}

export interface GivenTime {
  readonly ms: number
  /** As it is stored, without quotes. */
  readonly text: string
}

export interface Comment {
  readonly comment: string
  readonly source: string
  readonly metadata: string
}

/** A member name as a row spells it, and what it means. */
interface MemberName {
  readonly bytes: Uint8Array
  readonly name: string
  /** As `fieldNameBytes` gives it. */
  readonly stored: Uint8Array
  readonly role: 'control' | 'ignored' | 'field'
}

/** The values of members that control, audit metadata as its text; null for what a row does not have. */
type Controls = Record<ControlName, Value>

/** The object of the row before, and how it was named. */
interface FoundObject {
  readonly named: NamedObject
  readonly object: ObjectReference
}

/** Of a row: each is a field of its own, by whose name others look for theirs. What is in them has any number. */
const mostMembers = 10_000

function tooManyMembers(path: string): AssayError {
  return new AssayError(
    'REQUEST_TOO_LARGE',
    `${path} has more than ${mostMembers.toLocaleString('en')} fields, which is the most of a row`,
    { path, hint: 'put them into "metadata", or into several rows' },
  )
}

/** With so many names, all are forgotten before the next row. */
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

/** Whether a valid JSON value is a string without escapes. */
function isPlainString(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== 0x22) return false
  for (let at = start + 1; at < end; at++) if (bytes[at] === 0x5c) return false
  return true
}

/** Reads rows from scanners, one by one; their fields are members of a row that a builder has begun. */
export class RowNormalizer {
  readonly #builder: RowBuilder
  #scanner!: JsonScanner
  #options!: RowOptions
  /** Names by their place in the row before: rows of a request mostly look alike. */
  #names: MemberName[] = []
  readonly #memberNames = new Map<string, MemberName>()
  readonly #before = new Map<ControlName, { start: number; end: number; value: Value }>()
  #controls = noControls()
  /** Whether the row has such members besides its id and time. */
  #hasControls = false
  #found: FoundObject | undefined
  #hasInputs = false

  constructor(builder: RowBuilder) {
    this.#builder = builder
  }

  /** Goes on with the rows of another text. */
  begin(scanner: JsonScanner, options: RowOptions): void {
    this.#scanner = scanner
    this.#options = options
    this.#before.clear()
    this.#found = undefined
  }

  /** Reads the row that the scanner is at; `index` is its place among all, `path` names it in errors. */
  read(index: number, path: string): NormalRow {
    if (!this.#scanner.openObject()) throw invalid(path, 'must be an object')
    this.#controls = noControls()
    this.#hasControls = false
    this.#hasInputs = false
    if (this.#memberNames.size > keptNames) this.#forgetNames()
    this.#builder.begin()
    this.#readMembers(path)
    this.#signReview()
    const object = this.#object(path)
    const givenId = this.#controls.id
    const id = givenId === null ? undefined : readString(givenId, `${path}.id`)
    let control = this.#control(index, path)
    let created: GivenTime | undefined
    let comment: Comment | undefined
    if (this.#flag('_object_delete', path)) {
      if (id === undefined) throw invalid(`${path}.id`, 'is missing', 'a delete names its record')
      control = undefined
      const action = rowActions.delete
      return { id, action, object, control, created, comment }
    }
    const commentOn = this.#commentTarget()
    if (commentOn !== undefined) {
      created = this.#createdTime(path)
      comment = this.#comment()
      control = { row: index, commentOn }
      const action = rowActions.comment
      return { id, action, object, control, created, comment }
    }
    if (this.#hasInputs) this.#builder.rename('inputs', 'input')
    if (object.type === 'dataset') this.#builder.rename('output', 'expected')
    const isMerge = this.#flag('_is_merge', path)
    created = this.#createdTime(path)
    const action = isMerge ? rowActions.merge : rowActions.replace
    return { id, action, object, control, created, comment }
  }

  #readMembers(path: string): void {
    const scanner = this.#scanner
    const { out } = this.#builder
    for (let place = 0; scanner.nextMember(); place++) {
      if (place >= mostMembers) throw tooManyMembers(path)
      const { name, stored, role } = this.#memberName(place)
      if (role === 'control') this.#readControl(name as ControlName)
      else if (role === 'ignored') scanner.value()
      else {
        if (name === 'inputs') this.#hasInputs = true
        this.#builder.rawName(stored)
        const start = out.length
        scanner.value(out)
        this.#builder.endValue()
        checkField(name, out.bytes, start, out.length, path)
      }
    }
  }

  /** Whose answer of a review it is, is not for the row to say. */
  #signReview(): void {
    const { userId } = this.#options
    const given = this.#controls._audit_metadata
    if (userId === undefined || typeof given !== 'string' || !given.includes('"review"')) return
    const metadata = parseJson(given)
    if (!isObject(metadata) || !isObject(metadata.review ?? null)) return
    this.#controls._audit_metadata = writeJson({ ...metadata, user_id: userId })
  }

  #readControl(name: ControlName): void {
    const start = this.#scanner.value()
    const end = this.#scanner.position
    const isOften = name !== 'id' && name !== 'created'
    if (isOften) this.#hasControls = true
    this.#controls[name] = isOften ? this.#controlValue(name, start, end) : this.#text(start, end)
  }

  /** A value that mostly is a string without escapes, which stands for its own bytes. */
  #text(start: number, end: number): Value {
    const { bytes } = this.#scanner
    return isPlainString(bytes, start, end)
      ? decodeUtf8(bytes, start + 1, end - 1)
      : parseJsonBytes(bytes, start, end)
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

  #memberName(place: number): MemberName {
    const { bytes, keyStart, keyEnd } = this.#scanner
    const guess = this.#names[place]
    if (guess && compareBytes(bytes, keyStart, keyEnd, guess.bytes, 0, guess.bytes.length) === 0) {
      return guess
    }
    const name = JSON.parse(decodeUtf8(bytes, keyStart, keyEnd)) as string
    const known: MemberName = this.#memberNames.get(name) ?? {
      bytes: copyOf(bytes, keyStart, keyEnd),
      name,
      stored: fieldNameBytes(name),
      role: isControl(name) ? 'control' : isIgnored(name) ? 'ignored' : 'field',
    }
    this.#memberNames.set(name, known)
    if (place < 64) this.#names[place] = known
    return known
  }

  #forgetNames(): void {
    this.#names = []
    this.#memberNames.clear()
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
    const span = builder.value('origin')
    const origin = span ? parseJsonBytes(builder.out.bytes, span.start, span.end) : null
    return origin !== null && isObject(origin) && typeof origin.id === 'string'
      ? origin.id
      : undefined
  }

  #comment(): Comment {
    const { start, end } = this.#builder.value('comment')!
    const { _audit_source: source, _audit_metadata: metadata } = this.#controls
    return {
      comment: decodeUtf8(this.#builder.out.bytes, start, end),
      source: writeJson(source),
      metadata: String(metadata),
    }
  }

  #createdTime(path: string): GivenTime | undefined {
    const { created } = this.#controls
    if (created === null) return undefined
    const time = typeof created === 'string' ? parseTimestamp(created) : undefined
    if (time) return { ms: time.ms, text: formatTimestamp(time) }
    throw invalid(
      `${path}.created`,
      `is not a time: ${writeJson(created).slice(0, 80)}`,
      'write times as ISO 8601: "2024-01-31T10:30:00.000Z"',
    )
  }
}
