/**
 * Rows of requests that are unusual: one that has a name twice or spelled in another way, that is a comment or deletes,
 * names its object in a new way, or is not valid. All that can be wrong with a row is told here. What is left of it is
 * written as a usual row, and then goes the way of all.
 */

import { AssayError } from '../../error.ts'
import type { JsonScanner } from '../../json/scan.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { parseJsonBytes } from '../../type/parse-json.ts'
import type { ObjectReference } from '../../type/record.ts'
import { formatTimestamp, parseTimestamp } from '../../type/time.ts'
import { isObject, type Value } from '../../type/value.ts'
import { writeJson } from '../../type/write-json.ts'
import { compareBytes } from '../compare-bytes.ts'
import { type RowAction, type RowControl, rowActions } from '../row/prepared-rows.ts'
import { fieldNameBytes } from '../row/row.ts'
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
  /** The time of rows that do not say when they were made. */
  readonly nowMs: number
  /** `mostRowsPerRequest` when not given. */
  readonly mostRows?: number
}

/** A row of a request of which everything is checked and decided, but nothing written yet. */
export interface NormalRow {
  /** Undefined: it gets one. */
  readonly id: string | undefined
  readonly action: RowAction
  readonly object: ObjectReference
  readonly control: RowControl | undefined
  /** When it was made; undefined: now. */
  readonly created: GivenTime | undefined
  /** Its fields under the names that they are stored by, each once; no null ones but in rows that merge. */
  readonly fields: readonly NormalField[]
  /** Of a comment: what it says besides its id and time. */
  readonly comment: Comment | undefined
}

export interface GivenTime {
  readonly ms: number
  /** As it is stored, without quotes. */
  readonly text: string
}

/** A member, whose value is the valid JSON text from `start` to `end` of the request. */
export interface NormalField {
  readonly stored: Uint8Array
  readonly start: number
  readonly end: number
}

export interface Comment {
  readonly start: number
  readonly end: number
  readonly source: Value
  readonly metadata: Value
}

/** A member name as a row spells it, and what it means. */
interface MemberName {
  readonly bytes: Uint8Array
  readonly name: string
  /** As `fieldNameBytes` gives it. */
  readonly stored: Uint8Array
  readonly role: 'control' | 'ignored' | 'field'
  /** The last row that has it, and where among its fields. */
  row: number
  place: number
}

interface Field extends NormalField {
  readonly isNull: boolean
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

const noFields: readonly NormalField[] = []

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

/** Reads rows from scanners, one by one. */
export class RowNormalizer {
  #scanner!: JsonScanner
  #options!: RowOptions
  /** Names by their place in the row before: rows of a request mostly look alike. */
  #names: MemberName[] = []
  readonly #memberNames = new Map<string, MemberName>()
  readonly #before = new Map<ControlName, { start: number; end: number; value: Value }>()
  #row = 0
  #controls = noControls()
  /** Whether the row has such members besides its id and time. */
  #hasControls = false
  #found: FoundObject | undefined
  /** Undefined: of several with one name, not the last. */
  #fields: (Field | undefined)[] = []

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
    this.#row++
    this.#controls = noControls()
    this.#hasControls = false
    this.#fields = []
    if (this.#memberNames.size > keptNames) this.#forgetNames()
    this.#readMembers(path)
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
      return { id, action, object, control, created, fields: noFields, comment }
    }
    const commentOn = this.#commentTarget()
    if (commentOn !== undefined) {
      created = this.#createdTime(path)
      comment = this.#comment()
      control = { row: index, commentOn }
      const action = rowActions.comment
      return { id, action, object, control, created, fields: noFields, comment }
    }
    this.#rename('inputs', 'input')
    if (object.type === 'dataset') this.#rename('output', 'expected')
    const isMerge = this.#flag('_is_merge', path)
    created = this.#createdTime(path)
    const fields = this.#fields.filter((field) => field && (isMerge || !field.isNull)) as Field[]
    const action = isMerge ? rowActions.merge : rowActions.replace
    return { id, action, object, control, created, fields, comment }
  }

  #readMembers(path: string): void {
    const scanner = this.#scanner
    const { bytes } = scanner
    for (let place = 0; scanner.nextMember(); place++) {
      if (place >= mostMembers) throw tooManyMembers(path)
      const member = this.#memberName(place)
      const start = scanner.value()
      const end = scanner.position
      if (member.role === 'control') this.#readControl(member.name as ControlName, start, end)
      else if (member.role === 'field') {
        checkField(member.name, bytes, start, end, path)
        this.#addField(member, start, end)
      }
    }
  }

  #addField(member: MemberName, start: number, end: number): void {
    if (member.row === this.#row) this.#fields[member.place] = undefined
    member.row = this.#row
    member.place = this.#fields.length
    const isNull = this.#scanner.bytes[start] === 0x6e
    this.#fields.push({ stored: member.stored, start, end, isNull })
  }

  #readControl(name: ControlName, start: number, end: number): void {
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
      bytes: bytes.slice(keyStart, keyEnd),
      name,
      stored: fieldNameBytes(name),
      role: isControl(name) ? 'control' : isIgnored(name) ? 'ignored' : 'field',
      row: 0,
      place: 0,
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
    if (this.#fields.length !== 2 || !this.#field('comment')) return undefined
    const span = this.#field('origin')
    const origin = span ? parseJsonBytes(this.#scanner.bytes, span.start, span.end) : null
    return origin !== null && isObject(origin) && typeof origin.id === 'string'
      ? origin.id
      : undefined
  }

  #comment(): Comment {
    const { start, end } = this.#field('comment')!
    const { _audit_source: source, _audit_metadata: metadata } = this.#controls
    return { start, end, source, metadata }
  }

  /** The value of a field, if it is not null. */
  #field(name: string): Field | undefined {
    const known = this.#memberNames.get(name)
    const field = known?.row === this.#row ? this.#fields[known.place] : undefined
    return field?.isNull ? undefined : field
  }

  /** Gives the value of `from`, if any, the name `to`, unless a value other than null has it. */
  #rename(from: string, to: string): void {
    const field = this.#field(from)
    if (!field || this.#field(to)) return
    const known = this.#memberNames.get(to)
    if (known?.row === this.#row) this.#fields[known.place] = undefined
    const place = this.#memberNames.get(from)!.place
    this.#fields[place] = { ...field, stored: fieldNameBytes(to) }
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
