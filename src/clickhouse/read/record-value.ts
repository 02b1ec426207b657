/** Fields of records as the columns of the table have them. */
import type { BoundObject } from '../../binder/bound.ts'
import { hiddenField } from '../../binder/bound.ts'
import { objectColumnValue, recordColumn } from '../../type/record.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { nearMs, type Path } from '../../type/value.ts'
import { escapedName } from '../shred-fields.ts'
import { conjunction, disjunction, isTrue, negation } from './bounds.ts'
import { type CompiledValue, nullValue, typedValue } from './compiled-value.ts'
import { jsonValue } from './json-value.ts'
import { identifier, nameLiteral, textLiteral } from './sql-text.ts'

/** Of most rows nothing is listed, and no more is asked. */
const hasListed = 'notEmpty(residual)'

/** Undefined of a field that only the body has. */
export function recordValue(
  path: Path,
  objects: readonly BoundObject[],
): CompiledValue | undefined {
  const [name, ...rest] = path
  if (typeof name !== 'string') return undefined
  if (name === hiddenField.object) return typedValue('number', 'toFloat64(object)')
  const column = recordColumn(name)
  if (column?.origin === 'object') return rest.length > 0 ? nullValue : objectValue(name, objects)
  const whole = keyValue(name)
  if (whole) return rest.length > 0 ? nullValue : whole
  if (name === 'tags') return tagsValue(rest)
  if (name === 'input' || name === 'output' || name === 'expected') {
    return rest.length > 0 ? insideText(name, rest) : textColumn(name)
  }
  return documentValue(path)
}

function keyValue(name: string): CompiledValue | undefined {
  switch (name) {
    case 'id':
    case 'span_id':
      return typedValue('string', name, [listed([name])])
    case 'root_span_id':
      return typedValue('string', 'trace', [listed([name])])
    case 'is_root':
      return typedValue('boolean', 'is_root')
    case 'created':
      return typedValue('timestamp', createdMicroseconds, [createdDoubt])
    case '_pagination_key':
      return typedValue('string', "concat('p', leftPad(toString(pagination_key), 20, '0'))")
    case '_xact_id':
      // The sum has the bits of both, as they share none.
      return typedValue('string', `toString(transaction + toUInt64(${formatTransaction(0)}))`)
    default:
      return undefined
  }
}

export const createdMicroseconds = 'toUnixTimestamp64Micro(created)'

/** Further away, the column may be off by some microseconds. */
const createdDoubt = disjunction([
  listed(['created']),
  `(abs(${createdMicroseconds}) >= ${nearMs * 1000})`,
])

/** The same for all rows of an object. */
function objectValue(name: string, objects: readonly BoundObject[]): CompiledValue | undefined {
  const values = objects.map((object) => [object.number, objectColumnValue(name, object)] as const)
  const present = values.filter((entry): entry is [number, string] => entry[1] !== null)
  if (present.length === 0) return nullValue
  const literals = present.map(([number, value]) => [number, textLiteral(value)] as const)
  if (literals.some(([, literal]) => literal === undefined)) return undefined
  const branches = literals.map(([number, literal]) => `object = ${number}, ${literal}`)
  const without = values.filter(([, value]) => value === null).map(([number]) => number)
  return {
    ...nullValue,
    typed: { string: `multiIf(${branches.join(', ')}, NULL)` },
    isNull: without.length === 0 ? '0' : `(object IN (${without.join(', ')}))`,
  }
}

export const tagsDoubts = [listed(['tags']), "(tags_kind = 'unknown')"]

function tagsValue(rest: Path): CompiledValue | undefined {
  const doubts = tagsDoubts
  if (rest.length === 0) {
    return {
      typed: {},
      isHidden: "(tags_kind = 'array')",
      hidden: ['array'],
      isNull: "(tags_kind = 'null')",
      doubts,
    }
  }
  const [place] = rest
  if (rest.length > 1 || typeof place !== 'number') return nullValue
  // From 1 on, and from the end alike.
  const at = place < 0 ? place : place + 1
  const isThere = `(length(tags) >= ${place < 0 ? -place : place + 1})`
  return {
    ...nullValue,
    typed: { string: `if(${isThere}, toString(tags[${at}]), NULL)` },
    isNull: negation(isThere),
    doubts,
  }
}

/** What JSON that is no text has at a path. Texts have nothing there. */
function insideText(name: string, inside: Path): CompiledValue | undefined {
  const json = `if(${name}_kind = 'object', ifNull(${name}, ''), '')`
  const value = jsonValue(json, inside)
  return (
    value && {
      ...value,
      doubts: [
        listed([name]),
        `(${name}_kind = 'unknown')`,
        // Numbers that no double is make it no JSON, or another number.
        `(${name}_kind = 'object' AND NOT isValidJSON(ifNull(${name}, '')))`,
        conjunction([isTrue(`isNotNull(${value.typed.number})`), `match(${json}, '[0-9]{16}')`]),
        // Of a name that is there twice, the last counts here, and the first there.
        ...inside.map((part, i) => {
          const around = inside.slice(0, i).map((name) => nameLiteral(String(name)))
          return `(countEqual(JSONExtractKeys(${[json, ...around].join(', ')}), ${nameLiteral(String(part))}) > 1)`
        }),
        ...value.doubts,
      ],
    }
  )
}

/** A text, or the JSON of anything else. */
function textColumn(name: string): CompiledValue {
  const ofKind = (kind: string, sql: string) => `if(${name}_kind = '${kind}', ${sql}, NULL)`
  return {
    typed: {
      boolean: ofKind('boolean', `${name} = 'true'`),
      number: ofKind('number', `toFloat64OrNull(${name})`),
      string: ofKind('string', name),
    },
    isHidden: `(${name}_kind IN ('array', 'object'))`,
    hidden: ['array', 'object'],
    isNull: `(${name}_kind = 'null')`,
    doubts: [
      listed([name]),
      `(${name}_kind = 'unknown')`,
      // More digits than a double has, or an exponent.
      `(${name}_kind = 'number' AND NOT match(ifNull(${name}, ''), '^-?[0-9.]{1,15}$'))`,
    ],
  }
}

/** Undefined of paths that lead into arrays, or that no path of the column can be named as. */
export function documentValue(path: Path): CompiledValue | undefined {
  const names = path.map((part) => (typeof part === 'string' ? escapedName(part) : undefined))
  const quoted = names.map((name) => (name === undefined ? undefined : identifier(name)))
  if (quoted.includes(undefined)) return undefined
  const column = `doc.${quoted.join('.')}`
  const array = `${column}.\`%a\`.:String`
  const isScalar = `isNotNull(${column})`
  const isArray = `isNotNull(${array})`
  // An object has paths below its own, as an array has one.
  const below = `notEmpty(JSONAllPaths(doc.^${quoted.join('.')}))`
  const typed = {
    boolean: `${column}.:Bool`,
    number: `${column}.:Float64`,
    string: `${column}.:String`,
    array,
  }
  return {
    typed,
    isHidden: conjunction([below, negation(isArray)]),
    hidden: ['object'],
    isNull: negation(disjunction([isScalar, below])),
    doubts: [
      doubtOf(names as string[]),
      // Of two zeros that are equal, one is written with a sign.
      `(position(ifNull(${array}, ''), '-0') > 0)`,
    ],
    scalarDoubts: [listed(around(names as string[]))],
  }
}

/** The object that the column of fields has at a path. */
export function objectColumn(path: Path): string | undefined {
  const names = path.map((part) => {
    return typeof part === 'string' ? identifier(escapedName(part)) : undefined
  })
  return names.includes(undefined) ? undefined : `doc.^${names.join('.')}`
}

/** Whether the column of fields does not have what is at the path, or around it, just as it is. */
function doubtOf(names: readonly string[]): string {
  const below = nameLiteral(`${names.join('.')}.`)
  const isBelow = `arrayExists(path -> startsWith(path, ${below}), residual)`
  return conjunction([hasListed, disjunction([hasAnyOf(around(names)), isBelow])])
}

/** The path, and those that lead to it. */
function around(names: readonly string[]): string[] {
  return names.map((_, i) => names.slice(0, i + 1).join('.'))
}

/** Whether the columns do not have one of the paths just as it is. */
export function listed(paths: readonly string[]): string {
  return conjunction([hasListed, hasAnyOf(paths)])
}

function hasAnyOf(paths: readonly string[]): string {
  return `hasAny(residual, [${paths.map(nameLiteral).join(', ')}])`
}
