/** JSON of values that are no text, as nodes have it. */
import type { Path } from '../../type/value.ts'
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
function repeatsNames(json: string): string {
  // Nodes may try it of rows that another condition leaves out: of what is no JSON it takes many times as long.
  const lists = `replaceAll(replaceAll(${json}, '{', '[{'), '}', '}]')`
  return `isNull(accurateCastOrNull(concat('{"a":', ${lists}, '}'), 'JSON'))`
}

/**
 * The same with the texts within it as they are printed, but for rows of `escapedElsewise`.
 *
 * @param hasSlash whether slashes count, which may be escaped
 */
export function printedTexts(
  { sql, isMissing, repeatsNames }: JsonText,
  hasSlash: boolean,
): JsonText {
  if (isMissing !== '0') return { sql, isMissing, repeatsNames }
  const escapes = hasSlash ? String.raw`${unusualEscape}|\\\\/` : unusualEscape
  const printed = `if(match(${sql}, '${escapes}'), JSONExtractRaw(${sql}), ${sql})`
  // Of halves of characters, and of numbers beyond all that nodes know, nothing is extracted.
  return { sql: printed, isMissing: `empty(${printed})`, repeatsNames }
}

/** Escapes that a printer would not use: it has them for control characters alone, in small letters. */
const unusualEscape = String.raw`\\\\u(?:[1-9a-fA-F]|0[1-9a-fA-F]|00[2-9a-fA-F]|00[01][A-F]|000[89acd])`

/** Escapes that nodes print, and Assay in another way. */
export const escapedElsewise = String.raw`'\\\\u(?:00[01][A-F]|202[89])'`
