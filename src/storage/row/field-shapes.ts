/**
 * What fields the rows of a request have. Rows mostly have the shapes of rows before them, so a shape
 * (the names that one field's object has inside) is looked up by a hash of its names and its paths
 * are made once.
 *
 * What is known is meant for suggestions and for names that stand for a nested field; a query may read
 * any path. So there are bounds, where names turn out to be data.
 */
import type { MemberNames } from '../../json/member-names.ts'
import type { ObjectType } from '../../type/record.ts'

/** From the top of a row: one name, or up to three. */
export type FieldPath = readonly string[]

/** Most nested paths of an object that are known, and how many of them may have three names. */
const mostNestedPaths = 2000
const mostDeepPaths = 1000

/** Longer names are values, not names. */
const longestName = 200

/** Paths in the shapes of one field in a request: beyond these, its names are data. */
export const mostShapePaths = 8000

/** What is in one field's object. */
export interface FieldShape {
  /** From the top of the row. */
  readonly paths: readonly FieldPath[]
  /** The last object that was told of it: rows of one object mostly come together. */
  knownTo: ObjectFields | undefined
}

/** The shapes that one field has had. */
export class FieldShapes {
  readonly #field: string
  readonly #shapes = new Map<number, FieldShape>()
  #pathCount = 0
  #lastKey = 0
  #last: FieldShape | undefined

  constructor(field: string) {
    this.#field = field
  }

  /** Undefined where there are no names, and when there were too many shapes already. */
  find(names: MemberNames, bytes: Uint8Array): FieldShape | undefined {
    if (names.count === 0) return undefined
    const key = names.count * 2 ** 32 + (names.hash >>> 0)
    if (key !== this.#lastKey) {
      this.#last = this.#shapes.get(key) ?? this.#add(key, names, bytes)
      this.#lastKey = key
    }
    return this.#last
  }

  #add(key: number, names: MemberNames, bytes: Uint8Array): FieldShape | undefined {
    if (this.#pathCount >= mostShapePaths) return undefined
    const inner = names.paths(bytes).filter((path) => path.every(isName))
    const paths = inner.map((path) => [this.#field, ...path])
    this.#pathCount += paths.length
    const shape: FieldShape = { paths, knownTo: undefined }
    this.#shapes.set(key, shape)
    return shape
  }
}

function isName(text: string): boolean {
  return text.length <= longestName
}

/** The fields that rows of one object have. */
export class ObjectFields {
  readonly #type: ObjectType
  readonly #extra = new Set<string>()
  readonly #shapes = new Set<FieldShape>()

  constructor(type: ObjectType) {
    this.#type = type
  }

  addExtra(name: string): void {
    this.#extra.add(name)
  }

  addShape(shape: FieldShape): void {
    if (shape.knownTo === this) return
    shape.knownTo = this
    this.#shapes.add(shape)
  }

  /** Each path once. */
  paths(): FieldPath[] {
    const nested = new Map<string, FieldPath>()
    for (const shape of this.#shapes) {
      for (const path of shape.paths) {
        if (!hasRoom(path, nested.size)) continue
        const stored = this.#asStored(path)
        nested.set(pathKey(stored), stored)
      }
    }
    return [...Array.from(this.#extra, (name) => [name]), ...nested.values()]
  }

  /** Some fields are accepted under another name than they are stored. */
  #asStored(path: FieldPath): FieldPath {
    const [field, ...rest] = path
    if (field === 'inputs') return ['input', ...rest]
    return field === 'output' && this.#type === 'dataset' ? ['expected', ...rest] : path
  }
}

/** Whether a path may be added to so many nested ones. All fields at the top are known. */
export function hasRoom(path: FieldPath, nestedCount: number): boolean {
  if (path.length === 1) return true
  return nestedCount < (path.length === 2 ? mostNestedPaths : mostDeepPaths)
}

/** Equal for equal paths. */
export function pathKey(path: FieldPath): string {
  return JSON.stringify(path)
}
