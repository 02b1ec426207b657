/** Elements of arrays and entries of objects, as an array of SQL and what is known of each of its items. */
import type { Path, Value } from '../../type/value.ts'
import { conjunction, disjunction } from './bounds.ts'
import { type CompiledValue, nullValue, typedValue } from './compiled-value.ts'
import { jsonValue } from './json-value.ts'
import { documentValue, objectColumn, tagsDoubts } from './record-value.ts'
import { numberLiteral, textLiteral, tuple } from './sql-text.ts'

export interface Elements {
  /** SQL of an array, never null. */
  readonly list: string
  /** Of an item of it: the index or key, and the element, or what is at a path inside of these. */
  readonly name: (item: string, path: Path) => CompiledValue | undefined
  readonly value: (item: string, path: Path) => CompiledValue | undefined
  /** Rows of which the list does not have all elements just as they are. */
  readonly doubts: readonly string[]
}

const isWhole = (path: Path): boolean => path.length === 0

export const tagElements: Elements = {
  list: 'arrayZip(arrayEnumerate(tags), tags)',
  name: (item, path) => (isWhole(path) ? placeOf(`${item}.1`) : nullValue),
  value: (item, path) => (isWhole(path) ? typedValue('string', `toString(${item}.2)`) : nullValue),
  doubts: tagsDoubts,
}

/** From 0 on. */
function placeOf(place: string): CompiledValue {
  return typedValue('number', `toFloat64(${place} - 1)`)
}

/** Undefined of what is no list of numbers, or of texts. */
export function constantElements(items: readonly Value[]): Elements | undefined {
  const [first] = items
  const kind = typeof first
  if (kind !== 'number' && kind !== 'string') return undefined
  const literals = items.map((item) => {
    if (typeof item !== kind) return undefined
    return typeof item === 'number' ? numberLiteral(item) : textLiteral(item as string)
  })
  if (literals.includes(undefined)) return undefined
  return {
    list: `[${literals.map((literal, i) => tuple([String(i + 1), literal!])).join(', ')}]`,
    name: (item, path) => (isWhole(path) ? placeOf(`${item}.1`) : nullValue),
    value: (item, path) => (isWhole(path) ? typedValue(kind, `${item}.2`) : nullValue),
    doubts: [],
  }
}

/**
 * Of a field in the column of fields. An item is a key, a place, and the JSON of the element: of an array a place and no key, of
 * an object a key and no place.
 */
export function documentElements(path: Path): Elements | undefined {
  const whole = documentValue(path)
  const column = objectColumn(path)
  const array = whole?.typed.array
  if (!whole || column === undefined || array === undefined) return undefined
  const text = `ifNull(${array}, '[]')`
  const items = `JSONExtractArrayRaw(${text})`
  const ofArray = `arrayMap((j, i) -> ('', i, j), ${items}, arrayEnumerate(${items}))`
  const entries = `JSONExtractKeysAndValuesRaw(toJSONString(${column}))`
  const key = "replaceAll(replaceAll(e.1, '%2E', '.'), '%25', '%')"
  const ofObject = `arrayMap(e -> (${key}, toUInt32(0), e.2), arrayFilter(e -> e.1 != '%o', ${entries}))`
  const all = `if(isNotNull(${array}), ${ofArray}, ${ofObject})`
  return {
    list: `arrayFilter(i -> i.3 != 'null', ${all})`,
    name: (item, inside) => (isWhole(inside) ? nameOf(item) : nullValue),
    value: (item, inside) => jsonValue(`${item}.3`, inside),
    doubts: [
      ...whole.doubts,
      // Integers that no double is, and numbers beyond all of them.
      conjunction([
        `isNotNull(${array})`,
        disjunction([`match(${text}, '(^|[^0-9.])[0-9]{16}')`, `(NOT isValidJSON(${text}))`]),
      ]),
    ],
  }
}

function nameOf(item: string): CompiledValue {
  const isPlace = `${item}.2 > 0`
  return {
    ...nullValue,
    typed: {
      number: `if(${isPlace}, toFloat64(${item}.2 - 1), NULL)`,
      string: `if(${isPlace}, NULL, ${item}.1)`,
    },
    isNull: '0',
  }
}
