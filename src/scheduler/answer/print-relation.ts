/** Prints a relation on the workers, in chunks that leave in order as they are asked for. */

import type { PrintedRows, RowForm } from '../../executor/print/row-form.ts'
import type { Relation } from '../../executor/relation/relation.ts'
import { sliceRelation } from '../../executor/relation/relation-parts.ts'
import { inOrder } from '../admission/in-flight.ts'
import { isShortPrint } from '../cost/cost.ts'
import { inFlight, type PlanRun, segmentsOf } from '../scan/scan-rows.ts'

/**
 * Chunks of about this size leave the workers: as many as are printed ahead take 2 MiB, so that many slow readers
 * may wait, unless there are so many workers that chunks would be too short for what a task takes by itself.
 */
const aheadBytes = 2 << 20
const leastBytes = 256 << 10

/** A row group, of which a reader needs few. Compressed, it is about as long as other chunks. */
const groupBytes = 4 << 20

/** Stored rows may be very long; rows that were made of groups are not. */
const firstChunkRows = { stored: 16, made: 1000 }
const firstGroupRows = { stored: 64, made: 8192 }
/** Rows that are one row group, so that a short file is not cut: with more, the first groups leave sooner. */
const wholeGroupRows = 512
/** A page: each thread prints its share at once, since tasks of few rows take longer than these. */
const pageRows = 128
const maximumChunkRows = { stored: 4096, made: 32_768 }
const maximumGroupRows = { stored: 32_768, made: 65_536 }

export interface PrintedChunk extends PrintedRows {
  /** The last row's place in the relation. */
  readonly lastRow: number
}

/** Rows `from … to` of the relation that are still to be printed. */
interface Part {
  readonly from: number
  readonly to: number
}

/** @param rowBytes how long rows are that were printed before; 0: not known */
export async function* printRelation(
  relation: Relation,
  run: PlanRun,
  form: RowForm,
  rowBytes: number,
): AsyncGenerator<PrintedChunk> {
  const { rowCount, rows } = relation
  const kind = rows ? 'stored' : 'made'
  const isGrouped = form.kind === 'parquet'
  const share = Math.ceil(rowCount / Math.max(1, run.pool.workers))
  const isPage = !isGrouped && rowCount <= pageRows
  const isWhole = isGrouped && rowCount <= wholeGroupRows
  const first = isPage
    ? share
    : isWhole
      ? rowCount
      : (isGrouped ? firstGroupRows : firstChunkRows)[kind]
  const most = (isGrouped ? maximumGroupRows : maximumChunkRows)[kind]
  const wantedBytes = isGrouped ? groupBytes : Math.max(leastBytes, aheadBytes / inFlight(run))
  const segments = rows ? segmentsOf(run) : []
  const print = (part: Part) => printPart(relation, part, run, segments, form)
  let known = rowBytes
  const tasks = function* () {
    for (let from = 0; from < rowCount; ) {
      const fitting = known === 0 ? first : Math.ceil(wantedBytes / known)
      const to = Math.min(rowCount, from + Math.max(1, Math.min(fitting, most)))
      const part = { from, to }
      from = to
      yield () => print(part)
    }
  }
  for await (let { printed, rest } of inOrder(tasks(), inFlight(run))) {
    known = printed.rawBytes / printed.rowCount
    yield printed
    while (rest) {
      ;({ printed, rest } = await print(rest))
      yield printed
    }
  }
}

/** Prints as many of the rows as make one chunk. */
async function printPart(
  relation: Relation,
  { from, to }: Part,
  { name, plan, context, semiJoinSets, cancelled, pool, audit }: PlanRun,
  segments: readonly number[],
  form: RowForm,
): Promise<{ printed: PrintedChunk; rest: Part | undefined }> {
  const started = audit.now()
  const part = sliceRelation(relation, from, to)
  const task = {
    kind: 'print',
    plan,
    context,
    semiJoinSets,
    relation: part,
    segments,
    form,
    cancelled,
  } as const
  const { rowCount, bytes, rawBytes, group } = await pool.run(task, isShortPrint(part))
  audit.printed(name, started, rowCount, bytes.length)
  const next = from + rowCount
  return {
    printed: { rowCount, bytes, rawBytes, group, lastRow: next - 1 },
    rest: next < to ? { from: next, to } : undefined,
  }
}
