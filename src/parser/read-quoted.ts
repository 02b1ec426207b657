import { AssayError } from '../error.ts'

const escapes: ReadonlyMap<string, string> = new Map([
  ["'", "'"],
  ['"', '"'],
  ['`', '`'],
  ['\\', '\\'],
  ['/', '/'],
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
  // LIKE reads these two itself, so their backslash stays.
  ['%', '\\%'],
  ['_', '\\_'],
])

const fourHexDigits = /^[0-9a-fA-F]{4}$/

/**
 * Decodes the quoted text that begins at `start` with its quote. The quote itself is written twice
 * or after a backslash; line breaks may stand as they are.
 */
export function readQuoted(text: string, start: number): { value: string; end: number } {
  const quote = text.charCodeAt(start)
  let value = ''
  let position = start + 1
  let copied = position
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code === quote) {
      value += text.slice(copied, position)
      if (text.charCodeAt(position + 1) !== quote) return { value, end: position + 1 }
      copied = position + 1
      position += 2
    } else if (code === 0x5c) {
      value += text.slice(copied, position)
      const decoded = readEscape(text, position)
      value += decoded.value
      position = decoded.end
      copied = position
    } else {
      position++
    }
  }
  const mark = text[start]!
  throw new AssayError(
    'PARSE_UNTERMINATED_STRING',
    `this quote is never closed: expected ${mark} before the end of the text`,
    { span: { start, end: start + 1 }, hint: `write ${mark}${mark} for a quote inside a string` },
  )
}

function readEscape(text: string, start: number): { value: string; end: number } {
  const letter = text.charAt(start + 1)
  if (letter === 'u') {
    const digits = text.slice(start + 2, start + 6)
    if (fourHexDigits.test(digits)) {
      return { value: String.fromCharCode(Number.parseInt(digits, 16)), end: start + 6 }
    }
    throw new AssayError('PARSE_INVALID_LITERAL', '"\\u" takes four hexadecimal digits', {
      span: { start, end: Math.min(start + 6, text.length) },
    })
  }
  const value = escapes.get(letter)
  if (value !== undefined) return { value, end: start + 2 }
  const character = letter === '' ? '' : String.fromCodePoint(text.codePointAt(start + 1)!)
  throw new AssayError('PARSE_INVALID_LITERAL', `unknown escape "\\${character}" in a string`, {
    span: { start, end: start + 1 + character.length },
    hint: 'write "\\\\" for a backslash',
  })
}
