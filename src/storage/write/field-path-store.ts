/** The writer's side of the database `field_paths`: what fields the rows of each object have. */
import { MemberNames } from '../../json/member-names.ts'
import { JsonScanner, jsonKind } from '../../json/scan.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { fieldPathKey, objectRange } from '../record-key.ts'
import {
  type FieldPath,
  type FieldShape,
  FieldShapes,
  hasRoom,
  mostShapePaths,
  pathKey,
} from '../row/field-shapes.ts'
import type { RowView } from '../row/row.ts'
import { StoredRows } from '../row/stored-rows.ts'

/** Paths that are kept in memory, over all objects. */
const keptPaths = 200_000

interface KnownPaths {
  readonly keys: Set<string>
  readonly seen: SeenFields
  nested: number
}

export class FieldPathStore {
  readonly #records: RecordsEnvironment
  readonly #known = new Map<number, KnownPaths>()
  #kept = 0

  constructor(records: RecordsEnvironment) {
    this.#records = records
  }

  /** Adds the paths that are new; false when none is. Must be called in a write transaction. */
  add(object: number, paths: readonly FieldPath[]): boolean {
    if (paths.length === 0) return false
    const known = this.#knownOf(object)
    let isChanged = false
    for (const path of paths) {
      const key = pathKey(path)
      if (known.keys.has(key) || !hasRoom(path, known.nested)) continue
      this.#records.fieldPaths.putSync(fieldPathKey(object, key), Buffer.from(key))
      this.#keep(known, path, key)
      isChanged = true
    }
    return isChanged
  }

  /** Forgets what is in memory: a transaction was given up, and what it added is not on disk. */
  forget(): void {
    this.#known.clear()
    this.#kept = 0
  }

  /**
   * Makes the database from the rows, where it is empty and they are not. Takes about as long as
   * reading all of them. Must be called in a write transaction.
   */
  rebuildIfMissing(): void {
    if (this.#records.fieldPaths.getKeysCount({ limit: 1 }) > 0) return
    for (const { object, view } of new StoredRows(this.#records).all()) {
      this.addOf(object, view)
    }
  }

  /** Adds all that a stored row has. Must be called in a write transaction. */
  addOf(object: number, row: RowView): void {
    this.add(object, this.#knownOf(object).seen.newIn(row))
  }

  #knownOf(object: number): KnownPaths {
    const found = this.#known.get(object)
    if (found) return found
    if (this.#kept > keptPaths) this.forget()
    const known: KnownPaths = { keys: new Set(), seen: new SeenFields(), nested: 0 }
    // What is damaged is written anew when a row has the field.
    const readable = this.#records.fieldPaths.getReadable(objectRange(object), () => undefined)
    for (const { value } of readable) {
      const key = value.toString()
      this.#keep(known, JSON.parse(key) as FieldPath, key)
    }
    this.#known.set(object, known)
    return known
  }

  #keep(known: KnownPaths, path: FieldPath, key: string): void {
    known.keys.add(key)
    if (path.length > 1) known.nested++
    this.#kept++
  }
}

/** What stored rows of one object have: which of their fields are columns does not matter to who asks. */
class SeenFields {
  readonly #fields = new Map<string, FieldShapes>()
  readonly #shapes = new Set<FieldShape>()
  readonly #inner = new MemberNames()
  #pathCount = 0

  /** The paths of a row, but for most of those that rows before it had. */
  newIn(row: RowView): FieldPath[] {
    // Where names are data, all begins anew.
    if (this.#pathCount >= mostShapePaths) this.#forget()
    const paths: FieldPath[] = []
    const scanner = new JsonScanner(row.bytes)
    for (const { name, value } of row.fields()) {
      let shapes = this.#fields.get(name)
      if (!shapes) {
        shapes = new FieldShapes(name)
        this.#fields.set(name, shapes)
        paths.push([name])
      }
      if (jsonKind(row.bytes[value.start]!) !== 'object') continue
      this.#inner.clear()
      scanner.position = value.start
      scanner.value(undefined, this.#inner)
      const shape = shapes.find(this.#inner, row.bytes)
      if (!shape || this.#shapes.has(shape)) continue
      this.#shapes.add(shape)
      paths.push(...shape.paths)
    }
    this.#pathCount += paths.length
    return paths
  }

  #forget(): void {
    this.#fields.clear()
    this.#shapes.clear()
    this.#pathCount = 0
  }
}
