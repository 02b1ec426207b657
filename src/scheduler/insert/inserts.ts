/**
 * The way of an insert: its rows are prepared, its rights checked, and all of it is written and made known.
 * Small bodies that come while others are under way go that way together, since each step costs about as
 * much for one row as for many.
 */

import type { CatalogObject, CatalogView } from '../../catalog/catalog.ts'
import { missingAccess } from '../../catalog/missing-access.ts'
import { AssayError } from '../../error.ts'
import type { MaskingRule } from '../../masking/rule.ts'
import { type FoundMasked, findMasked } from '../../storage/prepare/find-masked.ts'
import { namedObjects } from '../../storage/prepare/mask-body.ts'
import type { PreparedMemtable } from '../../storage/prepare/memtable.ts'
import {
  type MaskTask,
  maskBytes,
  type PreparedRequests,
  type PrepareOptions,
  prepareTogether,
  type UnpreparedRequest,
} from '../../storage/prepare/prepare.ts'
import { type PreparedRows, rowActions } from '../../storage/row/prepared-rows.ts'
import { type BodiesOf, withBodies } from '../../storage/row/with-bodies.ts'
import type { WriteRequest, Written } from '../../storage/write/record-writer.ts'
import { formatTransaction } from '../../type/transaction.ts'
import type { DiskReserve } from '../admission/disk-reserve.ts'
import type { Maintenance } from '../maintenance/maintenance.ts'
import type { HttpMasker } from './http-masker.ts'
import { type IngestPool, inlineBytes } from './ingest-pool.ts'
import type { InsertRequest, InsertResult } from './insert-request.ts'
import type { MaskingPlans } from './masking-plans.ts'
import type { RecordWriterThread, WriteResult } from './record-writer-thread.ts'

/** Smaller bodies go together: no request of them has more rows than a transaction numbers. */
const groupedBytes = 128 * 1024

/** Bodies that go together have so many bytes, but for the last of them. */
const groupBytes = 512 * 1024

/** Rows that are on disk. */
export interface InsertedRows {
  readonly written: Written
  readonly rows: PreparedRows
  readonly memtables: readonly PreparedMemtable[]
  /** The number of each of `rows.objects`. */
  readonly objectNumbers: readonly number[]
}

export interface InsertsOptions {
  /** Undefined: bodies are prepared in this thread. */
  readonly ingest: IngestPool | undefined
  readonly masking: MaskingPlans
  /** Asked before rules are followed. */
  readonly httpMasker: HttpMasker | undefined
  readonly writer: RecordWriterThread
  readonly maintenance: Pick<Maintenance, 'roomForWrite'>
  /** Rows that delete are written whatever is free. */
  readonly reserve: Pick<DiskReserve, 'requireRoom'>
  /** Bodies that records are merged with and a cluster alone has; undefined where there is none. */
  readonly bodiesOf: BodiesOf | undefined
  /** In ms since 1970. */
  readonly now: () => number
  /** Called before requests are answered; from then on queries see the rows. */
  readonly onWritten: (inserted: InsertedRows) => void
}

interface Waiting {
  readonly request: InsertRequest
  readonly resolve: (result: InsertResult) => void
  readonly reject: (error: unknown) => void
}

export class Inserts {
  readonly #options: InsertsOptions
  #waiting: Waiting[] = []
  /** Groups that are being prepared. */
  #groups = 0
  #isSending = false
  /** Requests that may delete rows: a body is gone once it was prepared by another thread. */
  readonly #deleting = new WeakSet<InsertRequest>()

  constructor(options: InsertsOptions) {
    this.#options = options
  }

  /** Resolves when the rows are on disk and queries see them. */
  async insert(asked: InsertRequest): Promise<InsertResult> {
    const { ingest, writer, maintenance, reserve, masking, httpMasker } = this.#options
    const given = httpMasker
      ? { ...asked, body: await httpMasker.maskBody(asked.body, asked, organizationOf(asked)) }
      : asked
    const { length } = given.body
    const request = masking.hasRules(given.view) ? await this.#withMasking(given) : given
    // Of those that may delete it is asked again when they are prepared.
    if (mayDelete(request.body)) this.#deleting.add(request)
    else reserve.requireRoom(length)
    await maintenance.roomForWrite(length)
    const isAlone = this.#groups === 0 && this.#waiting.length === 0 && !writer.isBusy
    if (!ingest || (isAlone && length <= inlineBytes)) return this.#insertHere(request)
    if (length >= groupedBytes) return this.#insertAlone(ingest, request)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      this.#sendSoon(ingest)
    })
  }

  async #withMasking(request: InsertRequest): Promise<InsertRequest> {
    const { ingest, masking } = this.#options
    const { body, object, view } = request
    const isShort = !ingest || body.length <= inlineBytes
    const named = () => (isShort ? namedObjects(body) : ingest.namedObjects(body))
    const plan = masking.planFor(object ? [object] : await named(), view)
    return plan ? { ...request, masking: plan } : request
  }

  /**
   * What masking would make of stored rows of an object; undefined when no rule is for it.
   *
   * @param body `{"events": [...]}`, and `rules` those to try in place of those that hold
   */
  async findMasked(
    body: Uint8Array,
    object: CatalogObject,
    rules: readonly MaskingRule[] | undefined,
    mostExamples: number,
  ): Promise<FoundMasked | undefined> {
    const { ingest, masking: plans } = this.#options
    const masking = plans.planToTry(object, rules)
    if (!masking) return undefined
    const { type, id } = object
    const task = { body, object: { type, id }, masking, mostExamples }
    const isHere = !ingest || body.length <= inlineBytes
    return isHere ? findMasked(body, task.object, masking, mostExamples) : ingest.findMasked(task)
  }

  /** Rows of `/logs3` as they may be stored until they are inserted. */
  async maskRows(given: Uint8Array, view: CatalogView): Promise<Uint8Array> {
    const { httpMasker } = this.#options
    const asked = { body: given, form: 'logs3', view } as const
    const bytes = (await httpMasker?.maskBody(given, asked, organizationOf(asked))) ?? given
    const { masking } = await this.#withMasking({ ...asked, body: bytes })
    return masking ? this.#mask({ bytes, rows: { form: 'logs3' }, masking }) : bytes
  }

  /** A file as it may be stored. */
  async maskFile(given: Uint8Array, view: CatalogView): Promise<Uint8Array> {
    const { httpMasker } = this.#options
    const bytes = (await httpMasker?.maskFile(given, view.organization().id)) ?? given
    const masking = this.#options.masking.planForFile(view)
    return masking ? this.#mask({ bytes, rows: undefined, masking }) : bytes
  }

  #mask(task: Omit<MaskTask, 'kind'>): Uint8Array | Promise<Uint8Array> {
    const { ingest } = this.#options
    return ingest && task.bytes.length > inlineBytes ? ingest.mask(task) : maskBytes(task)
  }

  async #insertHere(request: InsertRequest): Promise<InsertResult> {
    const prepared = prepareTogether([this.#unprepared(request)])
    return this.#writeAlone(request, { ...prepared, memtables: [] })
  }

  async #insertAlone(ingest: IngestPool, request: InsertRequest): Promise<InsertResult> {
    return this.#writeAlone(request, await ingest.prepare([this.#unprepared(request)]))
  }

  async #writeAlone(request: InsertRequest, prepared: PreparedRequests): Promise<InsertResult> {
    if (prepared.errors[0]) throw AssayError.fromWire(prepared.errors[0])
    const [result] = await this.#write([request], prepared)
    return result!
  }

  /** After all that arrives in this turn of the event loop. */
  #sendSoon(ingest: IngestPool): void {
    if (this.#isSending) return
    this.#isSending = true
    setImmediate(() => {
      this.#isSending = false
      this.#sendGroups(ingest)
    })
  }

  /** No more than there are threads, so that what comes meanwhile waits here and goes together. */
  #sendGroups(ingest: IngestPool): void {
    while (this.#waiting.length > 0 && this.#groups < ingest.threads) {
      this.#groups++
      void this.#insertGroup(ingest, this.#nextGroup())
    }
  }

  #nextGroup(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const { request } of this.#waiting) {
      bytes += request.body.length
      count++
      if (bytes >= groupBytes) break
    }
    return this.#waiting.splice(0, count)
  }

  async #insertGroup(ingest: IngestPool, group: readonly Waiting[]): Promise<void> {
    let left = group
    try {
      const unprepared = group.map(({ request }) => this.#unprepared(request))
      const prepared = await ingest.prepare(unprepared).finally(() => {
        this.#groups--
        this.#sendGroups(ingest)
      })
      const { rows, memtables, errors } = prepared
      left = withoutFailed(
        group,
        errors.map((error) => error && AssayError.fromWire(error)),
      )
      const allowed = withoutFailed(
        left,
        left.map(({ request }, i) => missingOf(request, rows, i)),
      )
      if (allowed.length < left.length) {
        ingest.drop(memtables)
        this.#waiting.unshift(...allowed)
        this.#sendSoon(ingest)
      } else if (left.length > 0) {
        const results = await this.#write(
          left.map(({ request }) => request),
          prepared,
        )
        left.forEach(({ resolve }, i) => {
          resolve(results[i]!)
        })
      }
    } catch (thrown) {
      this.#onFailure(ingest, left, thrown)
    }
  }

  /** Where the fault may be that of one request's rows, each shows alone whether it is its own. */
  #onFailure(ingest: IngestPool, group: readonly Waiting[], thrown: unknown): void {
    // Then nobody knows whether something was written.
    const isUnknown = !(thrown instanceof AssayError) || thrown.code === 'STORAGE_UNAVAILABLE'
    for (const { request, resolve, reject } of group) {
      if (isUnknown || group.length === 1) reject(thrown)
      else this.#insertAlone(ingest, request).then(resolve, reject)
    }
  }

  #unprepared({ body, form, object, userId, mostRows, masking }: InsertRequest): UnpreparedRequest {
    const options: PrepareOptions = {
      form,
      nowMs: this.#options.now(),
      ...(object && { object }),
      ...(userId !== undefined && { userId }),
      ...(mostRows !== undefined && { mostRows }),
      ...(masking && { masking }),
    }
    return { body, options }
  }

  /** Of several requests, each may write its rows; of one, that is asked here. */
  async #write(
    requests: readonly InsertRequest[],
    { rows, memtables, attachments }: Omit<PreparedRequests, 'errors'>,
  ): Promise<InsertResult[]> {
    const { ingest, onWritten } = this.#options
    const { written, ids, objectNumbers } = await this.#writeRows(requests, rows).catch(
      (thrown) => {
        ingest?.drop(memtables)
        throw thrown
      },
    )
    onWritten({ written, rows, memtables, objectNumbers })
    return requests.map((_, i) => ({
      ids: ids.slice(i === 0 ? 0 : rows.requestEnds[i - 1]!, rows.requestEnds[i]!),
      transactionId: formatTransaction(written.transactions[i]!),
      attachments: attachments[i]!,
    }))
  }

  async #writeRows(requests: readonly InsertRequest[], rows: PreparedRows) {
    const isDeletion = rows.actions.every((action) => action === rowActions.delete)
    if (!isDeletion && requests.some((request) => this.#deleting.has(request))) {
      this.#options.reserve.requireRoom(rows.bytes.length)
    }
    const objectNumbers = rows.objects.map(({ type, id }) => {
      for (const { view } of requests) {
        const found = view.writable(type, id)
        if (found) return found.number
      }
      throw missingAccess('update', type, id)
    })
    const { ids, ...written } = await this.#writeLent({ rows, objectNumbers })
    return { written, ids, objectNumbers }
  }

  /** Again with bodies of records that are changed, where a cluster alone has them. */
  async #writeLent(request: WriteRequest): Promise<WriteResult> {
    const { writer, bodiesOf } = this.#options
    return withBodies((lent) => writer.write({ ...request, lent }), bodiesOf, request.lent)
  }
}

/** Longer ones do more than delete. */
const mostDeletionBytes = 2 ** 20

function mayDelete(body: Uint8Array): boolean {
  if (body.length > mostDeletionBytes) return false
  return Buffer.from(body.buffer, body.byteOffset, body.length).includes('_object_delete')
}

/** Rejects those that have an error; the others are left. */
function withoutFailed(
  group: readonly Waiting[],
  errors: readonly (AssayError | undefined)[],
): readonly Waiting[] {
  return group.filter(({ reject }, i) => {
    if (errors[i]) reject(errors[i])
    return !errors[i]
  })
}

/** Why request `i` of those that `rows` are of may not write its rows. */
function missingOf({ view }: InsertRequest, rows: PreparedRows, i: number): AssayError | undefined {
  const start = i === 0 ? 0 : rows.requestEnds[i - 1]!
  for (const place of new Set(rows.objectOf.subarray(start, rows.requestEnds[i]!))) {
    const { type, id } = rows.objects[place]!
    if (!view.writable(type, id)) return missingAccess('update', type, id)
  }
  return undefined
}

function organizationOf({ view }: InsertRequest): string {
  return view.organization().id
}
