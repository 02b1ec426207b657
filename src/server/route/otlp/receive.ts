/** A request for traces or logs, whatever it came by: read, written as rows, and what of it could not be. */
import { setImmediate } from 'node:timers/promises'
import type { Gate } from '../../../access/gate.ts'
import type { Engine } from '../../../engine.ts'
import { AssayError } from '../../../error.ts'
import { reasonOf } from '../../../otlp/decode.ts'
import { writeRow } from '../../../otlp/exact-number.ts'
import { nameOfLogRecord, type OtlpLogRecord, readLogRecords } from '../../../otlp/log-record.ts'
import { groupsOfRows, isOfSpan, rowOfLogRecords } from '../../../otlp/log-to-row.ts'
import type { Encoding } from '../../../otlp/request.ts'
import type { Signal } from '../../../otlp/schema.ts'
import { nameOfSpan, readSpans } from '../../../otlp/span.ts'
import { rowOfSpan } from '../../../otlp/span-to-row.ts'
import type { JsonObject } from '../../../type/value.ts'
import type { RecordInserter } from '../../record-inserter.ts'
import { insertRows } from './insert-rows.ts'
import { Parents, type SpanParent } from './parent.ts'
import { type PlacedSpan, RecordIds } from './record-ids.ts'
import { ExportReport } from './report.ts'

export interface ExportRequest {
  readonly signal: Signal
  readonly encoding: Encoding
  readonly body: Uint8Array
  /** What `x-bt-parent` says. */
  readonly parent: string | undefined
}

/** What is told to the sender of a request that was taken. */
export interface ExportResult {
  /** Spans or log records that are not stored. */
  readonly rejected: number
  /** Why they are not, and what of others is not as it was sent; empty where all is. */
  readonly message: string
}

/** Reading a span takes some 50 µs. */
const longestTurnMs = 10

export class ExportReceiver {
  readonly #writer: RecordInserter
  readonly #ids: RecordIds

  constructor(writer: RecordInserter, engine: Engine) {
    this.#writer = writer
    this.#ids = new RecordIds(engine)
  }

  /**
   * Stores what can be stored. Throws where the body is no request of the signal, and where nothing can
   * be stored for want of a parent.
   */
  async receive(request: ExportRequest, gate: Gate): Promise<ExportResult> {
    try {
      return await this.#receive(request, gate)
    } catch (thrown) {
      throw forExporters(thrown)
    }
  }

  async #receive(request: ExportRequest, gate: Gate): Promise<ExportResult> {
    const batch = new Batch()
    const parents = new Parents(gate, request.parent)
    if (request.signal === 'traces') await addSpans(request, parents, batch)
    else await addLogRecords(request, parents, batch)
    const { rows, report, fault } = batch
    if (fault && rows.length === 0) throw fault
    const { ids, release } = await this.#ids.claim(rows.map(({ place }) => place))
    try {
      const texts = rows.map(({ text }, i) => withId(text, ids[i]!))
      for (const { index, problem } of await insertRows(this.#writer, texts, gate)) {
        const { called, count } = rows[index]!
        report.reject(called, problem, count)
      }
    } finally {
      release()
    }
    return { rejected: report.rejected, message: report.message }
  }
}

/** Exporters drop what is refused by a status that their protocol does not name: of these, 503 has them wait. */
function forExporters(thrown: unknown): unknown {
  if (!(thrown instanceof AssayError) || thrown.code !== 'STORAGE_RESERVED') return thrown
  const { message, hint } = thrown
  const details = { ...(hint !== undefined && { hint }), retryAfterSeconds: 30, cause: thrown }
  return new AssayError('STORAGE_UNAVAILABLE', message, details)
}

interface SentRow {
  readonly called: string
  /** Of spans or log records that it is made of. */
  readonly count: number
  readonly place: PlacedSpan
  /** Without its id. */
  readonly text: Uint8Array
}

/** What a request comes to. */
class Batch {
  readonly rows: SentRow[] = []
  readonly report = new ExportReport()
  /** Why nothing can be stored, if that is so. */
  fault: AssayError | undefined

  /** Puts a row together, whose faults are its own. */
  add(
    {
      called,
      count,
      rootSpanId,
    }: Pick<SentRow, 'called' | 'count'> & Pick<PlacedSpan, 'rootSpanId'>,
    { object, number }: SpanParent,
    make: () => JsonObject,
  ): void {
    try {
      const { id, ...row } = { ...make(), ...object }
      const text = Buffer.from(writeRow(row))
      const place = { object: number, spanId: id as string, rootSpanId }
      this.rows.push({ called, count, text, place })
    } catch (thrown) {
      this.report.reject(called, `cannot be stored: ${reasonOf(thrown)}`, count)
    }
  }

  /** What belongs nowhere. */
  rejectHomeless(called: string, count: number, fault: AssayError): void {
    this.fault ??= fault
    this.report.reject(called, fault.message, count)
  }
}

async function addSpans(request: ExportRequest, parents: Parents, batch: Batch): Promise<void> {
  const { report } = batch
  const turns = new Turns()
  for (const span of readSpans(request.body, request.encoding, (text) => report.remark(text))) {
    if (turns.isLong) await turns.end()
    if ('problem' in span) {
      report.reject(span.called, span.problem)
      continue
    }
    const called = nameOfSpan(span.spanId, span.name)
    const parent = await parents.of(span)
    if (parent instanceof AssayError) batch.rejectHomeless(called, 1, parent)
    else {
      const rootSpanId = parent.span?.rootSpanId ?? span.traceId
      batch.add({ called, count: 1, rootSpanId }, parent, () => rowOfSpan(span, parent.span))
      for (const remark of span.remarks) report.remark(`${called}: ${remark}`)
    }
  }
}

async function addLogRecords(
  request: ExportRequest,
  parents: Parents,
  batch: Batch,
): Promise<void> {
  const { report } = batch
  const records: OtlpLogRecord[] = []
  const { body, encoding } = request
  const turns = new Turns()
  for (const record of readLogRecords(body, encoding, (text) => report.remark(text))) {
    if (turns.isLong) await turns.end()
    if ('problem' in record) report.reject(record.called, record.problem)
    else records.push(record)
  }
  for (const group of groupsOfRows(records)) {
    if (turns.isLong) await turns.end()
    const [first] = group
    const { eventName, spanId, traceId } = first
    const called = nameOfLogRecord(eventName, spanId)
    const count = group.length
    const parent = await parents.of(first)
    if (parent instanceof AssayError) batch.rejectHomeless(called, count, parent)
    else {
      // Only what is part of a span's record has the id of one.
      const rootSpanId = isOfSpan(first) ? (parent.span?.rootSpanId ?? traceId) : undefined
      batch.add({ called, count, rootSpanId }, parent, () => rowOfLogRecords(group, parent.span))
      for (const { remarks } of group) {
        for (const remark of remarks) report.remark(`${called}: ${remark}`)
      }
    }
  }
}

/** Lets other requests have their turn while a large one is read. */
class Turns {
  #since = performance.now()

  get isLong(): boolean {
    return performance.now() - this.#since > longestTurnMs
  }

  async end(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}

function withId(row: Uint8Array, id: string): Uint8Array {
  return Buffer.concat([Buffer.from(`{"id":${JSON.stringify(id)},`), row.subarray(1)])
}
