/** What the texts of cells are taken for: by default for texts, and otherwise for what the user says. */

export const cellTypes = ['usual', 'text', 'auto', 'number', 'boolean', 'json'] as const

/**
 * `usual`: a text; JSON where it is an object, an array or a text in quotes of JSON. `text`: a text, whatever is in
 * it. `auto`: as usual, and a number or `true` or `false` where the cell is not in quotes. The others: that, or it is
 * an error.
 */
export type CellType = (typeof cellTypes)[number]

export interface ColumnTypes {
  /** @param otherwise where nothing is said of the column */
  of(column: string, otherwise?: CellType): CellType
}

/** @param text as it is typed: a type for all columns, or `column=type`, or several with commas between them */
export function readColumnTypes(text = ''): ColumnTypes {
  let others: CellType | undefined
  const named = new Map<string, CellType>()
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const [, column, name = ''] = /^(?:(.*)=)?([^=]*)$/.exec(part.trim()) ?? []
    const type = cellTypes.find((each) => each === name.trim())
    if (!type) {
      throw new Error(
        `"${part.trim()}" is no type; give one of ${cellTypes.join(', ')}, or one for a column: zip=text`,
      )
    }
    if (column === undefined) others = type
    else named.set(column.trim(), type)
  }
  return { of: (column, otherwise = 'usual') => named.get(column) ?? others ?? otherwise }
}

/** JSON of a cell of a text; undefined for none. Throws when it is not of the type. */
export function cellJson(text: string, isQuoted: boolean, type: CellType): string | undefined {
  if (text === '' && (!isQuoted || !(type === 'text' || type === 'usual' || type === 'auto'))) {
    return undefined
  }
  switch (type) {
    case 'text':
      return JSON.stringify(text)
    case 'usual':
      return looseJson(text)
    case 'auto':
      return !isQuoted && /^(true|false)$/.test(text) ? text : numberOrText(text, isQuoted)
    case 'number':
      return numberJson(text)
    case 'boolean':
      if (/^(true|false)$/i.test(text.trim())) return text.trim().toLowerCase()
      throw new Error(`not true or false: ${text.slice(0, 40)}`)
    case 'json':
      if (isJson(text)) return text.trim()
      throw new Error(`not JSON: ${text.slice(0, 40)}`)
  }
}

/** A number as JSON writes it, with all its digits. */
const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

function numberOrText(text: string, isQuoted: boolean): string {
  return !isQuoted && numberPattern.test(text) ? text : looseJson(text)
}

/** Throws when the text is no number. */
export function numberJson(text: string): string {
  const trimmed = text.trim()
  if (numberPattern.test(trimmed)) return trimmed
  const number = Number(trimmed)
  if (trimmed !== '' && Number.isFinite(number) && /^[+-]?[\d.]/.test(trimmed))
    return String(number)
  throw new Error(`not a number: ${text.slice(0, 40)}`)
}

/** A value of a file that has types of its own: a text in it is what the user says. */
export function retyped(json: string, type: CellType): string | undefined {
  if (type === 'usual' || type === 'text' || !json.startsWith('"')) return json
  return cellJson(JSON.parse(json) as string, false, type)
}

function looseJson(text: string): string {
  return /^\s*[[{"]/.test(text) && isJson(text) ? text.trim() : JSON.stringify(text)
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
