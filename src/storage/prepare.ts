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
import type { WireError } from '../error.ts'
import { ByteWriter } from '../json/byte-writer.ts'
import { JsonScanner } from '../json/scan.ts'
import { decodeUtf8, requireUtf8 } from '../json/utf8.ts'
import type { ObjectReference } from '../type/record.ts'
import { ObjectFields } from './field-shapes.ts'
import type { FreshSpan, PreparedPart } from './fresh-part.ts'
import { hashId, idHashBytes } from './id-run.ts'
import { invalid } from './prepare-control.ts'
import { RowPreparer } from './prepare-row.ts'
import { type BlockLimits, prepareBlocks } from './prepared-blocks.ts'
import type { PreparedRows, RowControl } from './prepared-rows.ts'
import { RowBuilder } from './row-builder.ts'

export interface PrepareOptions {
  /** `logs3`: `{"rows": [...]}`, or the bare array. `events`: `{"events": [...]}`. */
  readonly form: 'logs3' | 'events'
  /** The object that all rows belong to; without it each row names its own. */
  readonly object?: ObjectReference
  /** The time of rows that do not say when they were made. */
  readonly nowMs: number
  readonly blockLimits?: BlockLimits
}

export interface UnpreparedRequest {
  readonly body: Uint8Array
  readonly options: PrepareOptions
}

/** What a thread is asked to prepare. */
export interface PrepareTask {
  readonly kind: 'prepare'
  readonly requests: readonly UnpreparedRequest[]
}

export type PrepareOutcome = PreparedRequest | { readonly error: WireError }

/** One for each request, in their order. */
export interface PrepareOutcomes {
  readonly outcomes: readonly PrepareOutcome[]
}

export interface PreparedRequest {
  readonly rows: PreparedRows
  /** Of objects with many rows; none when the rows were prepared in the thread that asks. */
  readonly parts: readonly PreparedPart[]
}

/** Asks a thread for the columns of rows that were written; see `seal-rows.ts`. */
export interface SealTask {
  readonly kind: 'seal'
  readonly spans: readonly FreshSpan[]
}

export type SealOutcome =
  | { readonly memory: SharedArrayBuffer | undefined }
  | { readonly error: WireError }

export type IngestTask = PrepareTask | SealTask
export type IngestOutcome = PrepareOutcomes | SealOutcome

interface KnownObject {
  readonly place: number
  readonly object: ObjectReference
  readonly fields: ObjectFields
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Checks and encodes the rows of a body of JSON. Throws the REQUEST_ errors.
 *
 * @param out what rows are written to, empty: they are views of it
 */
export function prepareRows(
  body: Uint8Array,
  options: PrepareOptions,
  out = new ByteWriter(0),
): PreparedRows {
  requireUtf8(body)
  const start = byteOrderMark.equals(body.subarray(0, 3)) ? 3 : 0
  const scanner = new JsonScanner(body, start)
  const member = options.form === 'logs3' ? 'rows' : 'events'
  let rows: PreparedRows | undefined
  if (options.form === 'logs3' && scanner.openArray()) {
    rows = readRows(scanner, member, options, out)
  } else if (scanner.openObject()) {
    while (scanner.nextMember()) {
      const name = JSON.parse(decodeUtf8(body, scanner.keyStart, scanner.keyEnd)) as string
      if (name !== member) scanner.value()
      else if (scanner.openArray()) rows = readRows(scanner, member, options, out)
      else throw invalid(member, 'must be an array')
    }
  } else {
    scanner.value()
    throw invalid('body', `must be an object {"${member}": [...]}`)
  }
  scanner.finish()
  if (!rows) throw invalid(member, 'is missing', `send {"${member}": [...]}`)
  return rows
}

function readRows(
  scanner: JsonScanner,
  member: string,
  options: PrepareOptions,
  out: ByteWriter,
): PreparedRows {
  // A large row takes no more encoded than as text, a small one up to twice as much.
  const textBytes = scanner.end - scanner.position
  out.truncate(0)
  out.reserve(textBytes + Math.min(textBytes, 1 << 24) + 4096)
  const preparer = new RowPreparer(scanner, new RowBuilder(out), options)
  const ids: string[] = []
  const ends: number[] = []
  const actions: number[] = []
  const objectOf: number[] = []
  const objects = new Map<string, KnownObject>()
  const controls: RowControl[] = []
  for (let i = 0; scanner.nextElement(); i++) {
    const row = preparer.prepare(i, `${member}[${i}]`)
    const objectKey = `${row.object.type}:${row.object.id}`
    let known = objects.get(objectKey)
    if (!known) {
      known = { place: objects.size, object: row.object, fields: new ObjectFields(row.object.type) }
      objects.set(objectKey, known)
    }
    ids.push(row.id)
    ends.push(out.length)
    actions.push(row.action)
    objectOf.push(known.place)
    for (const name of row.extraFields) known.fields.addExtra(name)
    for (const shape of row.shapes) known.fields.addShape(shape)
    if (row.control) controls.push(row.control)
  }
  const idHashes = Buffer.alloc(ids.length * idHashBytes)
  ids.forEach((id, row) => {
    idHashes.write(hashId(id), row * idHashBytes, 'latin1')
  })
  const rows = {
    bytes: out.view(),
    ends: Float64Array.from(ends),
    ids,
    idHashes,
    actions: Uint8Array.from(actions),
    objects: Array.from(objects.values(), ({ object }) => object),
    objectOf: Uint32Array.from(objectOf),
    fieldPaths: Array.from(objects.values(), ({ fields }) => fields.paths()),
    controls,
  }
  return { ...rows, ...prepareBlocks(rows, options.blockLimits) }
}
