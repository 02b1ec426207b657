/** Rows as a masker of the operator is sent them, and rows of what it answers. */
import { readMembers } from '../../json/members.ts'
import { JsonScanner, jsonKind } from '../../json/scan.ts'
import { requireUtf8 } from '../../json/utf8.ts'
import type { ObjectType } from '../../type/record.ts'
import { eachRow, type RowsForm } from './mask-body.ts'

/** What names a record, and what is done with it. So does what begins with `_`. */
const keptNames: ReadonlySet<string> = new Set([
  'id',
  'span_id',
  'root_span_id',
  'span_parents',
  'is_root',
  'created',
  'origin',
  'org_id',
  'project_id',
  'experiment_id',
  'dataset_id',
  'prompt_session_id',
  'log_id',
])

/** Numbers, which stay where whole values are masked. */
const numberFields: ReadonlySet<string> = new Set(['scores', 'metrics'])
/** Fields of a fixed type, which are left out then. */
const typedFields: ReadonlySet<string> = new Set([
  'metadata',
  'span_attributes',
  'tags',
  'comments',
  'context',
])

/** Where a row stands in its body. */
export interface RowPlace {
  readonly start: number
  readonly end: number
}

export interface MaskerRow extends RowPlace {
  /** What the masker is sent, as JSON. */
  readonly sent: string
}

export interface SplitBody {
  readonly body: Uint8Array
  readonly rows: RowsForm
  /** Whose records are masked. */
  readonly types: readonly ObjectType[]
}

export interface JoinedRows {
  readonly body: Uint8Array
  /** In the order of the body. */
  readonly places: readonly RowPlace[]
  /** What is to stand there: what the masker has answered. */
  readonly masked: readonly string[]
}

export interface MaskerAnswer {
  /** One text of JSON for each row. */
  readonly answers: readonly string[]
  /** Why it is no answer. */
  readonly fault: string | undefined
}

/** The rows of a body of which something is for the masker. */
export function splitRows({ body, rows: form, types }: SplitBody): MaskerRow[] {
  const rows: MaskerRow[] = []
  const scanner = new JsonScanner(body)
  eachRow(body, form, (start, object) => {
    scanner.position = start
    scanner.value()
    const end = scanner.position
    const isAsked = object && types.includes(object.type) && jsonKind(body[start]!) === 'object'
    const sent = isAsked ? sentOf(body, start, end) : undefined
    if (sent !== undefined) rows.push({ start, end, sent })
    return end
  })
  return rows
}

function sentOf(body: Uint8Array, start: number, end: number): string | undefined {
  const members: string[] = []
  for (const { name, value } of readMembers(body, start, end)) {
    if (!isKept(name)) members.push(`${JSON.stringify(name)}:${value}`)
  }
  return members.length === 0 ? undefined : `{${members.join()}}`
}

function isKept(name: string): boolean {
  return name.startsWith('_') || keptNames.has(name)
}

/** Members that a row came with keep their order; those that the masker has left out are left out. */
export function joinRows({ body, places, masked }: JoinedRows): Uint8Array {
  const parts: Uint8Array[] = []
  let at = 0
  for (const [i, place] of places.entries()) {
    parts.push(body.subarray(at, place.start), Buffer.from(merged(body, place, masked[i]!)))
    at = place.end
  }
  return Buffer.concat([...parts, body.subarray(at)])
}

function merged(body: Uint8Array, { start, end }: RowPlace, answer: string): string {
  const bytes = Buffer.from(answer)
  const found = new Map<string, string>()
  for (const { name, value } of readMembers(bytes, 0, bytes.length)) found.set(name, value)
  const members: string[] = []
  for (const { name, value } of readMembers(body, start, end)) {
    const now = isKept(name) ? value : found.get(name)
    if (now !== undefined) members.push(`${JSON.stringify(name)}:${now}`)
  }
  return `{${members.join()}}`
}

/** What is stored where nobody could be asked: nothing but `[masked]`. */
export function maskedWhole(row: string): string {
  const bytes = Buffer.from(row)
  const members: string[] = []
  for (const { name, value } of readMembers(bytes, 0, bytes.length)) {
    if (typedFields.has(name)) continue
    const text = name === 'comment' ? '{"text":"[masked]"}' : '"[masked]"'
    const isEmpty = numberFields.has(name) || value === 'null'
    members.push(`${JSON.stringify(name)}:${isEmpty ? value : text}`)
  }
  return `{${members.join()}}`
}

/** Of `rows`. */
export function readAnswer(answer: Uint8Array): MaskerAnswer {
  try {
    return answeredRows(answer)
  } catch (thrown) {
    return { answers: [], fault: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

function answeredRows(answer: Uint8Array): MaskerAnswer {
  const answers: string[] = []
  requireUtf8(answer)
  const found = Array.from(readMembers(answer, 0, answer.length)).find(
    ({ name }) => name === 'rows',
  )
  const bytes = Buffer.from(found?.value ?? '')
  const scanner = new JsonScanner(bytes)
  if (!found || !scanner.openArray()) {
    return { answers, fault: 'it has answered without "rows"' }
  }
  while (scanner.nextElement()) {
    const start = scanner.value()
    const row = bytes.toString('utf8', start, scanner.position)
    if (!row.startsWith('{')) {
      return { answers, fault: 'it has answered with a row that is no object' }
    }
    answers.push(row)
  }
  return { answers, fault: undefined }
}
