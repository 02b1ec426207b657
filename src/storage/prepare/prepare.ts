/**
 * From a request body to rows that can be written. Everything that can be wrong with a row is found
 * here, before anything is written, and named by its place: `rows[17].tags`.
 *
 * What a row does not say is filled in: a random id, the time, a span that is its own root. Members
 * that no column has are kept. `inputs` is accepted for `input`, and on rows of datasets `output`
 * for `expected`. A row that consists of a `comment` and its `origin` is a comment on the record
 * `origin.id`, and goes into that record's `comments`; it is no record of its own, and comes to
 * nothing where there is no such record.
 */
import { toAssayError, type WireError } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import { decodeUtf8, requireUtf8 } from '../../json/utf8.ts'
import type { ObjectReference } from '../../type/record.ts'
import type { BlockLimits } from '../row/prepared-blocks.ts'
import type { PreparedRows } from '../row/prepared-rows.ts'
import type { FoundMasked } from './find-masked.ts'
import { maskBody, maskerOf, type RowMasking, type RowsForm } from './mask-body.ts'
import { maskFile } from './mask-file.ts'
import {
  type JoinedRows,
  joinRows,
  type MaskerAnswer,
  type MaskerRow,
  readAnswer,
  type SplitBody,
  splitRows,
} from './masker-rows.ts'
import type { LogRange, PreparedMemtable } from './memtable.ts'
import type { NamedAttachments } from './named-attachments.ts'
import { openBody } from './open-body.ts'
import { invalid } from './prepare-control.ts'
import { RowCollector } from './row-collector.ts'

export interface PrepareOptions {
  /** `logs3`: `{"rows": [...]}`, or the bare array. `events`: `{"events": [...]}`. */
  readonly form: 'logs3' | 'events'
  /** The object that all rows belong to; without it each row names its own. */
  readonly object?: ObjectReference
  /** Who writes; undefined where nobody is known. */
  readonly userId?: string
  /** The time of rows that do not say when they were made. */
  readonly nowMs: number
  readonly blockLimits?: BlockLimits
  /** `mostRowsPerRequest` when not given. */
  readonly mostRows?: number
  /** What is done to values before anything else is. */
  readonly masking?: RowMasking
}

export interface UnpreparedRequest {
  readonly body: Uint8Array
  readonly options: PrepareOptions
}

/** What a thread is asked to prepare: one request, or several small ones. */
export interface PrepareTask {
  readonly kind: 'prepare'
  readonly requests: readonly UnpreparedRequest[]
  /** Shared memory for a memtable. */
  readonly memory?: SharedArrayBuffer | undefined
}

/** What came of the requests of a task. */
export interface PreparedRequests {
  /** Of those without an error, in their order. */
  readonly rows: PreparedRows
  /** Of objects with many rows; none when the rows were prepared in the thread that asks. */
  readonly memtables: readonly PreparedMemtable[]
  /** One place for each request. */
  readonly errors: readonly (WireError | undefined)[]
  /** What the rows of each request name; of those without an error, in their order. */
  readonly attachments: readonly (readonly NamedAttachments[])[]
}

export type PrepareOutcome = PreparedRequests | { readonly error: WireError }

/** Asks a thread for the columns of rows that were written; see `seal-rows.ts`. */
export interface SealTask {
  readonly kind: 'seal'
  readonly logRanges: readonly LogRange[]
  /** Shared memory for the memtable. */
  readonly memory?: SharedArrayBuffer | undefined
}

/** The part, if there are rows, and whether its memory is what the task gave. */
export interface SealedRows {
  readonly memory: SharedArrayBuffer | undefined
  readonly isGiven: boolean
}

export type SealOutcome = SealedRows | { readonly error: WireError }

/** Asks a thread which objects the rows of a body name. */
export interface ObjectsTask {
  readonly kind: 'objects'
  readonly body: Uint8Array
}

export type ObjectsOutcome =
  | { readonly objects: readonly ObjectReference[] }
  | { readonly error: WireError }

/** Asks a thread to mask what is stored otherwise than as rows: a body that comes before its request, or a file. */
export interface MaskTask {
  readonly kind: 'mask'
  readonly bytes: Uint8Array
  /** Undefined: it is a file, for which the first set is. */
  readonly rows: RowsForm | undefined
  readonly masking: RowMasking
}

export type MaskOutcome = { readonly bytes: Uint8Array } | { readonly error: WireError }

/** Does what a task of this kind asks. */
export function maskBytes({ bytes, rows, masking }: Omit<MaskTask, 'kind'>): Uint8Array {
  return rows ? maskBody(bytes, rows, masking).body : maskFile(bytes, maskerOf(masking, 0))
}

/** Asks a thread what rules would make of stored rows; see `find-masked.ts`. */
export interface FindMaskedTask {
  readonly kind: 'find masked'
  readonly body: Uint8Array
  readonly object: ObjectReference
  readonly masking: RowMasking
  readonly mostExamples: number
}

export type FindMaskedOutcome = FoundMasked | { readonly error: WireError }

/** Asks a thread for what is done before and after a masker of the operator is asked; see `masker-rows.ts`. */
export type MaskerTask =
  | { readonly kind: 'split'; readonly given: SplitBody }
  | { readonly kind: 'join'; readonly given: JoinedRows }
  | { readonly kind: 'answer'; readonly answer: Uint8Array }

export type MaskerOutcome =
  | { readonly split: readonly MaskerRow[] }
  | { readonly bytes: Uint8Array }
  | MaskerAnswer
  | { readonly error: WireError }

/** Does what a task of this kind asks. */
export function workForMasker(task: MaskerTask): MaskerOutcome {
  switch (task.kind) {
    case 'split':
      return { split: splitRows(task.given) }
    case 'join':
      return { bytes: joinRows(task.given) }
    case 'answer':
      return readAnswer(task.answer)
  }
}

export type IngestTask =
  | PrepareTask
  | SealTask
  | ObjectsTask
  | MaskTask
  | FindMaskedTask
  | MaskerTask
export type IngestOutcome =
  | PrepareOutcome
  | SealOutcome
  | ObjectsOutcome
  | MaskOutcome
  | FindMaskedOutcome
  | MaskerOutcome

/**
 * Checks and encodes the rows of a body of JSON. Throws the REQUEST_ errors.
 *
 * @param out what rows are written to: they are views of it
 */
export function prepareRows(
  body: Uint8Array,
  options: PrepareOptions,
  out = new ByteWriter(0),
): PreparedRows {
  const collector = new RowCollector(out)
  collect({ body, options }, collector)
  return collector.finish(options.blockLimits)
}

/**
 * The rows of several small bodies, as if they were one, so that what costs the same for each is done
 * once for all. Bodies that cannot be taken have an error and leave nothing behind.
 *
 * @param out what rows are written to, and `blocks` their blocks: they are views of these
 */
export function prepareTogether(
  requests: readonly UnpreparedRequest[],
  out = new ByteWriter(0),
  blocks = new ByteWriter(0),
): Omit<PreparedRequests, 'memtables'> {
  const errors: (WireError | undefined)[] = requests.map(() => undefined)
  let collector = new RowCollector(out, blocks)
  const collectAll = () =>
    requests.forEach((request, i) => {
      if (errors[i]) return
      try {
        collect(request, collector)
      } catch (thrown) {
        errors[i] = toAssayError(thrown).toWire()
      }
    })
  collectAll()
  if (errors.some((error) => error)) {
    collector = new RowCollector(out, blocks)
    collectAll()
  }
  return {
    rows: collector.finish(requests[0]?.options.blockLimits),
    errors,
    attachments: collector.attachments,
  }
}

/** Of this thread: new memory for each body would cost as much as filling it. */
let maskedBytes = new ByteWriter(0)
const keptMaskedBytes = 32 * 2 ** 20

/** The masked body, until the next one is. */
function masked(body: Uint8Array, options: PrepareOptions, masking: RowMasking): Uint8Array {
  if (maskedBytes.bytes.length > keptMaskedBytes) maskedBytes = new ByteWriter(0)
  return maskBody(body, options, masking, maskedBytes).body
}

function collect({ body: given, options }: UnpreparedRequest, collector: RowCollector): void {
  requireUtf8(given)
  const body = options.masking ? masked(given, options, options.masking) : given
  const scanner = openBody(body)
  const member = options.form === 'logs3' ? 'rows' : 'events'
  collector.begin(scanner, options)
  let isGiven = false
  if (options.form === 'logs3' && scanner.openArray()) {
    collector.readRows(member)
    isGiven = true
  } else if (scanner.openObject()) {
    while (scanner.nextMember()) {
      const name = JSON.parse(decodeUtf8(body, scanner.keyStart, scanner.keyEnd)) as string
      if (name !== member) scanner.value()
      else if (scanner.openArray()) {
        if (isGiven) throw invalid(member, 'is given twice')
        collector.readRows(member)
        isGiven = true
      } else throw invalid(member, 'must be an array')
    }
  } else {
    scanner.value()
    throw invalid('body', `must be an object {"${member}": [...]}`)
  }
  scanner.finish()
  if (!isGiven) throw invalid(member, 'is missing', `send {"${member}": [...]}`)
  collector.end()
}
