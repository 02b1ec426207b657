/**
 * Asks a service of the operator to mask rows, before anything else is done with them. It is sent what rows hold, without
 * what names them, so that it cannot change that, and its answers are of bounded size and time. After some failures it is
 * not asked for a while.
 */
import { isUtf8 } from 'node:buffer'
import { AssayError } from '../../error.ts'
import type { RowsForm } from '../../storage/prepare/mask-body.ts'
import { type MaskerRow, maskedWhole } from '../../storage/prepare/masker-rows.ts'
import type { MaskerSettings } from './masker-settings.ts'
import type { MaskerWork } from './masker-work.ts'
import { maskedTypes } from './masking-plans.ts'

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
  readonly #work: MaskerWork
  #running = 0
  readonly #waiting: (() => void)[] = []
  #failuresInRow = 0
  #openUntil = 0
  #requests = 0
  #failures = 0
  #milliseconds = 0

  constructor(settings: MaskerSettings, work: MaskerWork, onFailure: (thrown: unknown) => void) {
    this.#settings = settings
    this.#work = work
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
    const rows = await this.#work.split({ body, rows: form, types: [...maskedTypes] })
    if (rows.length === 0) return body
    const masked = new Map<MaskerRow, string>()
    const batches = batchesOf(rows)
    const work = async () => {
      for (let batch = batches.pop(); batch; batch = batches.pop()) {
        const answers = await this.#ask(
          batch.map(({ sent }) => sent),
          organizationId,
        )
        for (const [i, row] of batch.entries()) masked.set(row, answers[i]!)
      }
    }
    await Promise.all(Array.from({ length: Math.min(4, batches.length) }, work))
    const places = rows.map(({ start, end }) => ({ start, end }))
    return this.#work.join({ body, places, masked: rows.map((row) => masked.get(row)!) })
  }

  /** A file that is text, masked as a value by itself; any other as it is. */
  async maskFile(bytes: Uint8Array, organizationId: string): Promise<Uint8Array> {
    if (bytes.length === 0 || !isUtf8(bytes)) return bytes
    const text = Buffer.from(bytes).toString()
    const [answer] = await this.#ask([JSON.stringify({ input: text })], organizationId)
    const { input } = JSON.parse(answer!) as { readonly input?: unknown }
    return Buffer.from(typeof input === 'string' ? input : '')
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
      const { answers, fault } = await this.#work.readAnswer(await boundedBody(response, most))
      if (fault !== undefined) throw new Error(fault)
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

function batchesOf(rows: readonly MaskerRow[]): MaskerRow[][] {
  const batches: MaskerRow[][] = []
  let bytes = mostBytes
  for (const row of rows) {
    const { length } = row.sent
    if (bytes + length > mostBytes || batches.at(-1)!.length >= mostRows) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)!.push(row)
    bytes += length
  }
  return batches
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
