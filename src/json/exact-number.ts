/** Numbers that are kept rather than calculated with, for what runs in a browser, too. */

/** A number whose text is not what its double prints. */
export class ExactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }

  /** Called by `JSON.stringify`, which can write no such number. */
  toJSON(): string {
    wasMet = true
    return this.text
  }
}

/** Whether `JSON.stringify` met an exact number since this was last false. */
let wasMet = false

/** What may be a number: it stands where a value of JSON does, or within a text. */
const numberPattern = /(?<![^[:,\s])-?\d[\d.eE+-]*(?![^\]},\s])/g

/** Whether JSON has numbers that a double does not print as they are; true now and then where it has none. */
export function mayHaveExactNumbers(text: string): boolean {
  for (const [number] of text.matchAll(numberPattern)) {
    if (String(Number(number)) !== number) return true
  }
  return false
}

export function numberOfText(text: string): number | ExactNumber {
  const number = Number(text)
  return String(number) === text ? number : new ExactNumber(text)
}

/**
 * As `JSON.stringify` writes it, with exact numbers as their texts.
 *
 * @param indent what each level is moved in by; without it there is no whitespace
 */
export function writeExactJson(value: unknown, indent = ''): string {
  wasMet = false
  const text = JSON.stringify(value, undefined, indent)
  return wasMet ? write(value, indent, '\n') : text
}

/** @param line what a line begins with, its end of the line before included */
function write(value: unknown, indent: string, line: string): string {
  if (value instanceof ExactNumber) return value.text
  const inner = line + indent
  if (Array.isArray(value)) {
    const items = value.map((item) => write(item ?? null, indent, inner))
    return enclosed('[', items, ']', indent, line)
  }
  if (!isJsonObject(value) || 'toJSON' in value) return JSON.stringify(value)
  const colon = indent === '' ? ':' : ': '
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : `${JSON.stringify(name)}${colon}${write(member, indent, inner)}`,
  )
  return enclosed('{', members, '}', indent, line)
}

function enclosed(
  open: string,
  parts: readonly string[],
  close: string,
  indent: string,
  line: string,
): string {
  if (indent === '' || parts.length === 0) return open + parts.join(',') + close
  return open + parts.map((part) => line + indent + part).join(',') + line + close
}

/** An object of JSON: no array, no number. */
export function isJsonObject(value: unknown): value is { readonly [name: string]: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  )
}
