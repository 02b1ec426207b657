/** From the bytes of a request to its spans or log records, each still by itself. */
import { isUtf8 } from 'node:buffer'
import { AssayError } from '../error.ts'
import { hasMoreValues } from '../json/count-values.ts'
import { JsonScanner, maximumDepth } from '../json/scan.ts'
import { decodeUtf8, requireUtf8 } from '../json/utf8.ts'
import { parseJson } from '../type/parse-json.ts'
import type { Remark } from './any-value.ts'
import { hasMoreFields, hasMoreParts } from './count-fields.ts'
import { decodeMessage, type Signal } from './schema.ts'

export type Encoding = 'json' | 'protobuf'

/** A part of a request as it came. */
export interface Message {
  /** A parsed object, or the message as `decodeMessage` gives it. Throws where it cannot be read. */
  read(): unknown
}

/** One span or log record, with what made it. */
export interface SentItem {
  readonly item: Message
  readonly resource: Message | undefined
  readonly scope: Message | undefined
}

const members = {
  traces: { resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans', type: 'Span' },
  logs: { resources: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords', type: 'LogRecord' },
} as const

type Members = (typeof members)[Signal]

/** Objects and lists in a request around a span; what is deeper than that is no span at all. */
const deepestRequest = 2 ** 20

/** Spans or log records of a request, and the resources and scopes that they are of. Exporters send hundreds. */
const mostItems = 100_000

/** In one span or log record: attributes, events and what is in them. */
const mostValues = 1_000_000

/** A body that is not UTF-8 is mended if it fits into one text. */
const longestMended = 2 ** 28

/** A value takes up to four levels of JSON for each of its own. */
const deepestItem = 4 * maximumDepth + 16

/** Throws for what is no request of that signal, before it gives anything. */
export function sentItems(
  body: Uint8Array,
  encoding: Encoding,
  signal: Signal,
  remark: Remark,
): SentItem[] {
  return encoding === 'json'
    ? itemsOfJson(body, members[signal], remark)
    : itemsOfProtobuf(body, signal)
}

function itemsOfProtobuf(body: Uint8Array, signal: Signal): SentItem[] {
  const { resources, scopes, items, type } = members[signal]
  if (hasMoreParts(body, mostItems)) throw tooMany(items)
  let request: Decoded
  try {
    request = decodeMessage(body, signal) as Decoded
  } catch (cause) {
    const reason = cause instanceof Error ? `: ${cause.message}` : ''
    throw new AssayError('REQUEST_INVALID', `the body is no OTLP export of ${signal}${reason}`, {
      hint: 'send it as protobuf, or as JSON with "content-type: application/json"',
      cause,
    })
  }
  return listOf<Decoded>(request[resources]).flatMap((ofResource) => {
    const resource = messageOf(ofResource.resource, 'Resource')
    return listOf<Decoded>(ofResource[scopes]).flatMap((ofScope) => {
      const scope = messageOf(ofScope.scope, 'Scope')
      return listOf<Uint8Array>(ofScope[items]).map((bytes) => {
        return { item: messageOf(bytes, type)!, resource, scope }
      })
    })
  })
}

type Decoded = Readonly<Record<string, unknown>>

function listOf<Element>(list: unknown): readonly Element[] {
  return Array.isArray(list) ? list : []
}

function messageOf(
  bytes: unknown,
  type: 'Resource' | 'Scope' | 'Span' | 'LogRecord',
): Message | undefined {
  if (!(bytes instanceof Uint8Array)) return undefined
  return {
    read: () => {
      requireFewValues(hasMoreFields(bytes, mostValues))
      return decodeMessage(bytes, type)
    },
  }
}

function itemsOfJson(given: Uint8Array, names: Members, remark: Remark): SentItem[] {
  const body = readableText(given, remark)
  const scanner = new JsonScanner(body, 0, body.length, Math.min(body.length + 1, deepestRequest))
  const items: SentItem[] = []
  if (scanner.peek() !== 0x7b) {
    scanner.value()
    throw new AssayError('REQUEST_INVALID', 'the body is no object', {
      hint: `send {"${names.resources}": […]}`,
    })
  }
  const count = new ItemCount(names.items)
  eachMember(scanner, {
    [names.resources]: () => {
      eachElement(scanner, () => {
        count.add()
        for (const item of ofResource(scanner, names, count)) items.push(item)
      })
    },
  })
  scanner.finish()
  return items
}

/** What names the resource or the scope may come after what it is of. */
function ofResource(scanner: JsonScanner, names: Members, count: ItemCount): SentItem[] {
  let resource: Message | undefined
  const items: { item: Message; scope: Message | undefined }[] = []
  eachMember(scanner, {
    resource: () => {
      resource = textAt(scanner)
    },
    [names.scopes]: () => {
      eachElement(scanner, () => {
        count.add()
        for (const item of ofScope(scanner, names, count)) items.push(item)
      })
    },
  })
  return items.map((sent) => ({ ...sent, resource }))
}

function ofScope(scanner: JsonScanner, names: Members, count: ItemCount) {
  let scope: Message | undefined
  const items: Message[] = []
  eachMember(scanner, {
    scope: () => {
      scope = textAt(scanner)
    },
    [names.items]: () => {
      eachElement(scanner, () => {
        count.add()
        items.push(textAt(scanner))
      })
    },
  })
  return items.map((item) => ({ item, scope }))
}

/** Throws once there are too many. */
class ItemCount {
  readonly #called: string
  #count = 0

  constructor(called: string) {
    this.#called = called
  }

  add(): void {
    this.#count++
    if (this.#count > mostItems) throw tooMany(this.#called)
  }
}

function tooMany(called: string): AssayError {
  return new AssayError(
    'REQUEST_TOO_LARGE',
    `the request has more than ${mostItems.toLocaleString('en')} ${called}, resources and scopes`,
    { hint: 'let the exporter send smaller batches' },
  )
}

function requireFewValues(isMore: boolean): void {
  if (!isMore) return
  throw new AssayError(
    'REQUEST_TOO_LARGE',
    `has more than ${mostValues.toLocaleString('en')} values`,
  )
}

/** Reads the members that are named, in JSON's way or in the protocol's, and passes the others. */
function eachMember(scanner: JsonScanner, read: Readonly<Record<string, () => void>>): void {
  if (!scanner.openObject()) {
    scanner.value()
    return
  }
  while (scanner.nextMember()) {
    const key = JSON.parse(decodeUtf8(scanner.bytes, scanner.keyStart, scanner.keyEnd)) as string
    const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (Object.hasOwn(read, name)) read[name]!()
    else scanner.value()
  }
}

function eachElement(scanner: JsonScanner, read: () => void): void {
  if (!scanner.openArray()) scanner.value()
  else while (scanner.nextElement()) read()
}

function textAt(scanner: JsonScanner): Message {
  const { bytes } = scanner
  const start = scanner.value()
  const end = scanner.position
  return { read: () => parseItem(bytes, start, end) }
}

/** A number that a double may not hold; mostly they are texts. */
const longNumber = /(?<![^[:,\s])-?\d{16}/
/** One that no double is near, and that takes seconds to be made: it is infinite. */
const endlessNumber = /(?<![^[:,\s])-?\d{1000}/

function parseItem(bytes: Uint8Array, start: number, end: number): unknown {
  requireFewValues(hasMoreValues(bytes, mostValues, start, end))
  if (end - start > deepestItem) new JsonScanner(bytes, start, end, deepestItem).value()
  const text = decodeUtf8(bytes, start, end)
  const isExact = longNumber.test(text) && !endlessNumber.test(text)
  return isExact ? parseJson(text) : JSON.parse(text)
}

/** Without a byte order mark, and UTF-8 whatever came. */
function readableText(body: Uint8Array, remark: Remark): Uint8Array {
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  const text = hasMark ? body.subarray(3) : body
  if (isUtf8(text)) return text
  if (text.length > longestMended) requireUtf8(text)
  remark('the body is not UTF-8: U+FFFD stands for what cannot be read')
  return Buffer.from(decodeUtf8(text))
}
