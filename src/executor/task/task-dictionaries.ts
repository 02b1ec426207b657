/** Dictionaries that the tasks of a query share: see `vector/shared-dictionary.ts`. */
import type { BoundExpression } from '../../binder/bound.ts'
import type { Path } from '../../type/value.ts'
import type { TextColumn } from '../../vector/column.ts'
import {
  type SharedCodes,
  type SharedDictionary,
  SharedTexts,
} from '../../vector/shared-dictionary.ts'

/** How texts of a field are numbered. */
export interface TaskDictionary {
  readonly path: Path
  readonly dictionary: SharedDictionary
  /** By segment: what `SharedDictionaryBuilder.add` gave for its column. */
  readonly maps: ReadonlyMap<number, Int32Array>
  /** Whether all texts that the field has in the segments of the query are in these maps. */
  readonly isComplete: boolean
}

interface FieldDictionary {
  readonly texts: SharedTexts
  readonly maps: TaskDictionary['maps']
}

/** The dictionaries of one task, by their fields. */
export class TaskDictionaries {
  readonly #byPath: ReadonlyMap<string, FieldDictionary>

  constructor(dictionaries: readonly TaskDictionary[]) {
    this.#byPath = new Map(
      dictionaries.map(({ path, dictionary, maps }) => [
        JSON.stringify(path),
        { texts: new SharedTexts(dictionary), maps },
      ]),
    )
  }

  /** The dictionary of an expression that is a field which has one. */
  of(expression: BoundExpression): SharedTexts | undefined {
    if (this.#byPath.size === 0 || expression.kind !== 'field') return undefined
    return this.#byPath.get(JSON.stringify(expression.path))?.texts
  }

  /** How the fields of a segment are numbered. */
  inSegment(segment: number): SegmentDictionaries | undefined {
    return this.#byPath.size === 0 ? undefined : new SegmentDictionaries(this.#byPath, segment)
  }
}

/** The dictionaries of one task, for the columns of one segment. */
export class SegmentDictionaries {
  readonly #byPath: ReadonlyMap<string, FieldDictionary>
  readonly #segment: number

  constructor(byPath: ReadonlyMap<string, FieldDictionary>, segment: number) {
    this.#byPath = byPath
    this.#segment = segment
  }

  /** The codes of rows `from … from + count` of the field's column; undefined: it is not numbered. */
  codesOf(path: Path, column: TextColumn, from: number, count: number): SharedCodes | undefined {
    const found = this.#byPath.get(JSON.stringify(path))
    const map = found?.maps.get(this.#segment)
    if (!found || !map) return undefined
    const { texts: dictionary } = found
    return column.encoding === 'dictionary'
      ? { dictionary, codes: column.codes.between(from, count), map }
      : { dictionary, codes: map.subarray(from, from + count), map: undefined }
  }

  has(path: Path): boolean {
    return this.#byPath.has(JSON.stringify(path))
  }
}

/** The shared dictionary of this id. */
export function dictionaryOf(
  dictionaries: readonly SharedDictionary[],
  id: number,
): SharedTexts | undefined {
  const found = dictionaries.find((dictionary) => dictionary.id === id)
  return found && new SharedTexts(found)
}
