/** Bytes of a text in any encoding to UTF-8, in pieces. */

/** The code points of the bytes 0x80 to 0x9f in windows-1252, which some runtimes decode otherwise. */
const windows1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178'

/** Those that people choose from; any other that `TextDecoder` knows will do, too. */
export const usualEncodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'iso-8859-15',
  'windows-1250',
  'windows-1251',
  'shift_jis',
  'gb18030',
  'euc-kr',
] as const

/** Throws for an encoding that nobody knows. */
export function checkEncoding(name: string): string {
  try {
    return new TextDecoder(name.replace(/^utf[_ ]?(?=\d)/i, 'utf-')).encoding
  } catch {
    throw new Error(`"${name}" is no encoding; ${usualEncodings.join(', ')} and others are`)
  }
}

/**
 * The same text as UTF-8 without a mark. A byte order mark says what it is, or else `encoding`, or the zeros of UTF-16
 * at the beginning; anything else goes through as it is, so that who reads it must tell what is not UTF-8.
 */
export async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding?: string,
): AsyncGenerator<Uint8Array> {
  let head = new Uint8Array(0)
  let found: Found | undefined
  let decode: ((bytes: Uint8Array, isLast: boolean) => Uint8Array) | undefined
  for await (const chunk of chunks) {
    let rest = chunk
    if (!found) {
      head = joined(head, chunk)
      if (head.length < 4) continue
      found = find(head, encoding)
      decode = decoderOf(found.encoding)
      rest = head.subarray(found.markLength)
    }
    const bytes = decode ? decode(rest, false) : rest
    if (bytes.length > 0) yield bytes
  }
  if (!found) {
    found = find(head, encoding)
    const rest = head.subarray(found.markLength)
    decode = decoderOf(found.encoding)
    if (rest.length > 0) yield decode ? decode(rest, false) : rest
  }
  const last = decode?.(new Uint8Array(0), true)
  if (last && last.length > 0) yield last
}

interface Found {
  readonly encoding: string
  readonly markLength: number
}

function find([first, second, third]: Uint8Array, given: string | undefined): Found {
  const name = given === undefined ? undefined : checkEncoding(given)
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    return { encoding: 'utf-8', markLength: 3 }
  }
  const marked =
    first === 0xff && second === 0xfe
      ? 'utf-16le'
      : first === 0xfe && second === 0xff
        ? 'utf-16be'
        : undefined
  if (marked) return { encoding: marked, markLength: 2 }
  if (name !== undefined) return { encoding: name, markLength: 0 }
  if (second === 0 && first !== undefined && first !== 0)
    return { encoding: 'utf-16le', markLength: 0 }
  if (first === 0 && second !== undefined && second !== 0)
    return { encoding: 'utf-16be', markLength: 0 }
  return { encoding: 'utf-8', markLength: 0 }
}

/** Undefined for UTF-8, which need not be decoded. */
function decoderOf(
  encoding: string,
): ((bytes: Uint8Array, isLast: boolean) => Uint8Array) | undefined {
  if (encoding === 'utf-8') return undefined
  const encoder = new TextEncoder()
  if (encoding === 'windows-1252') return (bytes) => encoder.encode(decodeWindows1252(bytes))
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  let position = 0
  return (bytes, isLast) => {
    try {
      const text = decoder.decode(bytes, { stream: !isLast })
      position += bytes.length
      return encoder.encode(text)
    } catch {
      const end = position + bytes.length
      throw new Error(`not ${encoding} text between the bytes ${position} and ${end}`)
    }
  }
}

function decodeWindows1252(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) {
    text += byte >= 0x80 && byte < 0xa0 ? windows1252[byte - 0x80] : String.fromCharCode(byte)
  }
  return text
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Throws with the first byte that is not UTF-8 and its place. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    const at = firstFault(bytes)
    const byte = bytes[at]!.toString(16).padStart(2, '0')
    throw new Error(
      `not UTF-8 text: byte 0x${byte} at place ${at + 1}; ` +
        'the encoding of the file can be given, such as windows-1252',
    )
  }
}

/** Where the first character begins that is none. */
function firstFault(bytes: Uint8Array): number {
  const lengths = [1, 2, 3, 4]
  for (let at = 0; at < bytes.length; ) {
    const length = bytes[at]! < 0x80 ? 1 : lengths.find((n) => isUtf8(bytes.subarray(at, at + n)))
    if (length === undefined) return at
    at += length
  }
  return 0
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes)
    return true
  } catch {
    return false
  }
}
