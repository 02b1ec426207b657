/**
 * Leaves of the granules that the key index names the very rows that have what is looked for, so that a
 * trace, or a user's few rows, are read as fast as records by their ids.
 */
import { rowsWithText } from '../executor/rows-with-text.ts'
import type { TaskInput } from '../executor/task.ts'
import type { PhysicalPlan } from '../planner/physical-plan.ts'
import type { TaskReads } from '../storage/task-reads.ts'
import { isStoredField } from '../type/record.ts'
import type { ColumnSet } from '../vector/column.ts'
import { granuleRows } from '../vector/column.ts'
import type { SplitInputs } from './scan-rows.ts'
import type { Piece } from './split.ts'
import { type WantedTexts, wantedTexts } from './wanted-texts.ts'

/** Of texts that are compared: a few tenths of a millisecond. */
const mostComparisons = 8 * granuleRows

/** Runs of rows that follow each other, beyond which to open each costs more than it saves. */
const mostRuns = 64

/** Rows between two runs that are read sooner than a run is opened: spans of a trace lie among those of others. */
const mostBetween = 64

type ColumnInput = Extract<TaskInput, { readonly kind: 'segment' | 'part' }>

/**
 * The rows that may pass, by a predicate that asks for a few texts; the same split when there is none, or
 * when too much would have to be looked at.
 */
export function exactRows(
  split: SplitInputs,
  plan: PhysicalPlan,
  reads: Pick<TaskReads, 'openSegment' | 'openPart'>,
): SplitInputs {
  const { pieces, others } = split
  const wanted = plan.predicates.flatMap((predicate) => wantedTexts(predicate, []) ?? [])
  const [first] = wanted
    .filter(({ path }) => isStoredField(path[0]!))
    .sort((a, b) => a.texts.length - b.texts.length)
  if (!first || pieces.length + others.length === 0) return split
  let rows = 0
  for (const input of [...others, ...pieces.map((piece) => piece.input)]) {
    if (input.kind !== 'segment' && input.kind !== 'part') return split
    rows += input.to - input.from
  }
  if (rows * first.texts.length > mostComparisons) return split
  const exactPieces = pieces.map((piece) =>
    rangesOf(reads.openSegment(piece.input.segment), first, piece.input)?.map((range) => ({
      ...piece,
      input: { ...piece.input, ...range },
    })),
  )
  const exactOthers = (others as readonly Extract<ColumnInput, { kind: 'part' }>[]).map((input) =>
    rangesOf(reads.openPart(input.part, input.memory), first, input)?.map((range) => ({
      ...input,
      ...range,
    })),
  )
  return {
    ...split,
    pieces: exactPieces.flatMap((exact, i) => exact ?? [pieces[i]!]),
    others: exactOthers.flatMap((exact, i) => exact ?? [others[i]!]),
  }
}

/** Runs of the rows of an input that have one of the texts; undefined when these are not found out. */
function rangesOf(
  set: ColumnSet,
  { path, texts }: WantedTexts,
  { from, to }: ColumnInput,
): { from: number; to: number }[] | undefined {
  const rows = rowsWithText(set, path, texts, from, to)
  if (!rows) return undefined
  const ranges: { from: number; to: number }[] = []
  for (const row of rows) {
    const last = ranges.at(-1)
    if (last?.to === row) last.to++
    else if (ranges.length === mostRuns) return undefined
    else ranges.push({ from: row, to: row + 1 })
  }
  return ranges
}

/** The same with fewer runs, for a plan whose predicates are asked of the rows between them as well. */
export function nearRuns({ pieces, others, ...rest }: SplitInputs): SplitInputs {
  const joinedPieces: Piece[] = []
  for (const piece of pieces) {
    const last = joinedPieces.at(-1)
    const input = last && joined(last.input, piece.input)
    if (input) joinedPieces[joinedPieces.length - 1] = { ...piece, input }
    else joinedPieces.push(piece)
  }
  const joinedOthers: TaskInput[] = []
  for (const other of others) {
    const last = joinedOthers.at(-1)
    const isPart = last?.kind === 'part' && other.kind === 'part'
    const input = isPart ? joined(last, other) : undefined
    if (input) joinedOthers[joinedOthers.length - 1] = input
    else joinedOthers.push(other)
  }
  return { ...rest, pieces: joinedPieces, others: joinedOthers }
}

/** One run of two that lie near each other in the same columns; undefined of others. */
function joined<Input extends ColumnInput>(first: Input, second: Input): Input | undefined {
  const isSame =
    first.object === second.object &&
    (first.kind === 'segment'
      ? second.kind === 'segment' && first.segment === second.segment
      : second.kind === 'part' && first.part === second.part)
  const between = second.from - first.to
  return isSame && between >= 0 && between <= mostBetween ? { ...first, to: second.to } : undefined
}
