/**
 * Asks a service of the operator to mask rows, before anything else is done with them. It is sent what rows hold, without
 * what names them, so that it cannot change that, and its answers are of bounded size and time. After some failures it is
 * not asked for a while.
 */
import { isUtf8 } from 'node:buffer'
import { AssayError } from '../../error.ts'
import { readMembers } from '../../json/members.ts'
import { JsonScanner, jsonKind } from '../../json/scan.ts'
import { requireUtf8 } from '../../json/utf8.ts'
import { eachRow, type RowsForm } from '../../storage/prepare/mask-body.ts'
import type { ObjectType } from '../../type/record.ts'
import type { MaskerSettings } from './masker-settings.ts'

/** Of one request to the masker. */
const mostRows = 500
const mostBytes = 2 ** 20
/** Requests to it at the same time. */
const mostRequests = 16
/** What it may answer with: so many times what it was sent, and a little more. */
const answerShare = 2
const answerBytes = 2 ** 20
const failuresToOpen = 5
const openMs = 10_000

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

interface Row {
  readonly start: number
  readonly end: number
  /** What the masker is sent; undefined when nothing of the row is for it. */
  readonly sent: string | undefined
}

export interface HttpMaskerStatus {
  readonly requests: number
  readonly failures: number
  /** That requests took altogether. */
  readonly seconds: number
  /** Whether it has failed so often that it is not asked for a while. */
  readonly isOpen: boolean
}

export class HttpMasker {
  readonly #settings: MaskerSettings
  readonly #onFailure: (thrown: unknown) => void
  readonly #isMasked: (type: ObjectType) => boolean
  #running = 0
  readonly #waiting: (() => void)[] = []
  #failuresInRow = 0
  #openUntil = 0
  #requests = 0
  #failures = 0
  #milliseconds = 0

  /** @param isMasked whether records of a type are masked at all */
  constructor(
    settings: MaskerSettings,
    isMasked: (type: ObjectType) => boolean,
    onFailure: (thrown: unknown) => void,
  ) {
    this.#settings = settings
    this.#isMasked = isMasked
    this.#onFailure = onFailure
  }

  get status(): HttpMaskerStatus {
    return {
      requests: this.#requests,
      failures: this.#failures,
      seconds: this.#milliseconds / 1000,
      isOpen: this.#isOpen(),
    }
  }

  /** The body with its rows masked; itself when nothing of them is for the masker. Throws when they are to be refused. */
  async maskBody(body: Uint8Array, form: RowsForm, organizationId: string): Promise<Uint8Array> {
    const rows = this.#rowsOf(body, form)
    const asked = rows.filter(({ sent }) => sent !== undefined)
    if (asked.length === 0) return body
    const masked = new Map<Row, string>()
    const batches = batchesOf(asked)
    const work = async () => {
      for (let batch = batches.pop(); batch; batch = batches.pop()) {
        const answers = await this.#ask(
          batch.map(({ sent }) => sent!),
          organizationId,
        )
        for (const [i, row] of batch.entries()) masked.set(row, answers[i]!)
      }
    }
    await Promise.all(Array.from({ length: Math.min(4, batches.length) }, work))
    return withRows(body, rows, masked)
  }

  /** A file that is text, masked as a value by itself; any other as it is. */
  async maskFile(bytes: Uint8Array, organizationId: string): Promise<Uint8Array> {
    if (bytes.length === 0 || !isUtf8(bytes)) return bytes
    const text = Buffer.from(bytes).toString()
    const [answer] = await this.#ask([JSON.stringify({ input: text })], organizationId)
    const { input } = JSON.parse(answer!) as { readonly input?: unknown }
    return Buffer.from(typeof input === 'string' ? input : '')
  }

  #rowsOf(body: Uint8Array, form: RowsForm): Row[] {
    const rows: Row[] = []
    const scanner = new JsonScanner(body)
    eachRow(body, form, (start, object) => {
      scanner.position = start
      scanner.value()
      const end = scanner.position
      const isAsked = object && this.#isMasked(object.type) && jsonKind(body[start]!) === 'object'
      rows.push({ start, end, sent: isAsked ? sentOf(body, start, end) : undefined })
      return end
    })
    return rows
  }

  /** One text of JSON for each row. */
  async #ask(rows: readonly string[], organizationId: string): Promise<readonly string[]> {
    try {
      if (this.#isOpen())
        throw new Error('it has failed several times, and is not asked for a while')
      return await this.#inTurn(() => this.#request(rows, organizationId))
    } catch (thrown) {
      return this.#withoutAnswer(rows, thrown)
    }
  }

  #withoutAnswer(rows: readonly string[], thrown: unknown): readonly string[] {
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    switch (this.#settings.failure) {
      case 'store':
        return rows
      case 'mask':
        return rows.map(maskedWhole)
      case 'refuse':
        throw new AssayError(
          'STORAGE_UNAVAILABLE',
          `the masker of the operator does not do its part, and nothing was stored: ${reason}`,
          {
            hint: 'try again; ASSAY_MASKING_FAILURE says what is done meanwhile',
            retryAfterSeconds: 2,
          },
        )
    }
  }

  #isOpen(): boolean {
    return Date.now() < this.#openUntil
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= mostRequests) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
      // Whoever was before has found out for all.
      if (this.#isOpen()) {
        this.#waiting.shift()?.()
        throw new Error('it has failed several times, and is not asked for a while')
      }
    }
    this.#running++
    try {
      return await work()
    } finally {
      this.#running--
      this.#waiting.shift()?.()
    }
  }

  async #request(rows: readonly string[], organizationId: string): Promise<readonly string[]> {
    const { url, token, seconds } = this.#settings
    this.#requests++
    const begun = performance.now()
    try {
      const body = `{"organization_id":${JSON.stringify(organizationId)},"rows":[${rows.join()}]}`
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(Math.ceil(seconds * 1000)),
      })
      if (response.status !== 200) {
        await response.body?.cancel()
        throw new Error(`it has answered with the status ${response.status}`)
      }
      const most = body.length * answerShare + answerBytes
      const answers = rowsOfAnswer(await boundedBody(response, most))
      if (answers.length !== rows.length) {
        throw new Error(
          `it was asked for ${rows.length} rows, and has answered with ${answers.length}`,
        )
      }
      this.#failuresInRow = 0
      return answers
    } catch (thrown) {
      this.#failures++
      if (++this.#failuresInRow >= failuresToOpen) this.#openUntil = Date.now() + openMs
      this.#onFailure(thrown)
      throw thrown
    } finally {
      this.#milliseconds += performance.now() - begun
    }
  }
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

function batchesOf(rows: readonly Row[]): Row[][] {
  const batches: Row[][] = []
  let bytes = mostBytes
  for (const row of rows) {
    const { length } = row.sent!
    if (bytes + length > mostBytes || batches.at(-1)!.length >= mostRows) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)!.push(row)
    bytes += length
  }
  return batches
}

/** Members that a row came with keep their order; those that the masker has left out are left out. */
function withRows(
  body: Uint8Array,
  rows: readonly Row[],
  masked: ReadonlyMap<Row, string>,
): Uint8Array {
  const parts: Uint8Array[] = []
  let at = 0
  for (const row of rows) {
    const answer = masked.get(row)
    if (answer === undefined) continue
    parts.push(body.slice(at, row.start), Buffer.from(merged(body, row, answer)))
    at = row.end
  }
  return Buffer.concat([...parts, body.subarray(at)])
}

function merged(body: Uint8Array, { start, end }: Row, answer: string): string {
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

function maskedWhole(row: string): string {
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

async function boundedBody({ body }: Response, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body ?? []) {
    size += part.byteLength
    if (size > most) throw new Error(`it has answered with more than ${most} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The elements of `rows`. */
function rowsOfAnswer(answer: Buffer): string[] {
  const rows: string[] = []
  requireUtf8(answer)
  const found = Array.from(readMembers(answer, 0, answer.length)).find(
    ({ name }) => name === 'rows',
  )
  const bytes = Buffer.from(found?.value ?? '')
  const scanner = new JsonScanner(bytes)
  if (!found || !scanner.openArray()) throw new Error('it has answered without "rows"')
  while (scanner.nextElement()) {
    const start = scanner.value()
    const row = bytes.toString('utf8', start, scanner.position)
    if (!row.startsWith('{')) throw new Error('it has answered with a row that is no object')
    rows.push(row)
  }
  return rows
}
