/** JSON of values that are no text, as nodes have it. */
import { isObject, type Path, type Value } from '../../type/value.ts'
import { conjunction, disjunction } from './bounds.ts'
import { listed } from './record-value.ts'
import { textLiteral } from './sql-text.ts'

export interface JsonText {
  /** Never null. */
  readonly sql: string
  /** Where there is no such text, though there is a value. */
  readonly isMissing: string
  /** Where an object may have a name twice, of which one counts; others are listed among doubts. */
  readonly repeatsNames: string
}

/** Whether a column has the JSON that a path is in; other JSON is read of bodies. */
export function hasOwnColumn([field]: Path): boolean {
  return field === 'input' || field === 'output' || field === 'expected'
}

/** As it was written, or as nodes print it. Undefined of what they find none of. */
export function jsonOf(path: Path): JsonText | undefined {
  const [field, ...rest] = path
  const isColumn = hasOwnColumn(path)
  const whole = isColumn ? `if(${field}_kind = 'string', '0', ifNull(${field}, '0'))` : 'body'
  const within = isColumn ? rest : [field, ...rest]
  const places = within.map((part) => {
    if (typeof part === 'number') return String(part < 0 ? part : part + 1)
    return part === undefined ? undefined : textLiteral(part)
  })
  if (places.includes(undefined)) return undefined
  if (places.length === 0) {
    return { sql: whole, isMissing: '0', repeatsNames: repeatsNames(whole) }
  }
  // Of JSON with a number beyond all doubles nothing is extracted.
  const sql = `JSONExtractRaw(${[whole, ...places].join(', ')})`
  return {
    sql,
    isMissing: `empty(${sql})`,
    repeatsNames: isColumn ? repeatsNames(`if(empty(${sql}), '0', ${sql})`) : '0',
  }
}

/**
 * The type takes no path of a value twice. An object is none, so that each is made an array of one; what that does to braces
 * within texts is no matter.
 */
export function repeatsNames(json: string): string {
  // Nodes may try it of rows that another condition leaves out: of what is no JSON it takes many times as long.
  const lists = `replaceAll(replaceAll(${json}, '{', '[{'), '}', '}]')`
  return `isNull(accurateCastOrNull(concat('{"a":', ${lists}, '}'), 'JSON'))`
}

/**
 * The same with the texts within it as they are printed, but for rows of `isEscapedElsewise`.
 *
 * @param hasSlash whether slashes count, which may be escaped
 */
export function printedTexts(
  { sql, isMissing, repeatsNames }: JsonText,
  hasSlash: boolean,
): JsonText {
  if (isMissing !== '0') return { sql, isMissing, repeatsNames }
  const isEscaped = disjunction([
    hasSlash ? String.raw`position(${sql}, '\\/') > 0` : '0',
    hasEscape(sql, unusualEscape),
  ])
  const printed = `if(${isEscaped}, JSONExtractRaw(${sql}), ${sql})`
  // Of halves of characters, and of numbers beyond all that nodes know, nothing is extracted.
  return { sql: printed, isMissing: `empty(${printed})`, repeatsNames }
}

/** Escapes that a printer would not use: it has them for control characters alone, in small letters. */
const unusualEscape = '[1-9a-fA-F]|0[1-9a-fA-F]|00[2-9a-fA-F]|00[01][A-F]|000[89acd]'

/** Whether JSON has escapes that nodes print, and Assay in another way. */
export function isEscapedElsewise(json: string): string {
  return hasEscape(json, '00[01][A-F]|202[89]')
}

/** @param digits a pattern of those of code points. Most JSON has none, and is not looked through for them. */
function hasEscape(json: string, digits: string): string {
  const [begin, pattern] = [String.raw`'\\u'`, String.raw`'\\\\u(?:${digits})'`]
  return `(position(${json}, ${begin}) > 0 AND match(${json}, ${pattern}))`
}

/** Texts of a value that are looked for, the longest ones. */
const mostTexts = 3

/**
 * Whether a column has the texts of a value as they are, or may have them in another way: no more is asked of other rows, as what
 * is within JSON takes long. Undefined where it is not in a column of its own.
 *
 * @param path that of the field, if it is one, which equals the value or includes it
 */
export function hasTexts(path: Path | undefined, value: Value): string | undefined {
  if (!path || !hasOwnColumn(path)) return undefined
  const column = String(path[0])
  const longest = textsOf(value).sort((a, b) => b.length - a.length)
  const literals = longest.slice(0, mostTexts).flatMap((text) => textLiteral(text) ?? [])
  if (literals.length === 0) return undefined
  const text = `ifNull(${column}, '')`
  return disjunction([
    conjunction(literals.map((literal) => `position(${text}, ${literal}) > 0`)),
    // It may have escapes.
    `position(${text}, '\\\\') > 0`,
    `(${column}_kind = 'unknown')`,
    listed([column]),
  ])
}

/** Names are texts, too. */
function textsOf(value: Value): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (Array.isArray(value)) return (value as readonly Value[]).flatMap(textsOf)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => [...textsOf(name), ...textsOf(item)])
}
