/** Runs a plan that reads little in one task, so that one message goes to a worker, or none. */
import type { RowForm } from '../../executor/print/row-form.ts'
import type { AnswerResult, AnswerTask, TaskInput } from '../../executor/task/task.ts'
import { type PlanRun, type SplitInputs, splitInputs, wantedRows } from '../scan/scan-rows.ts'
import { isLookUp, isSmall } from '../scan/small-work.ts'

/** What one task reads at most; with more, it pays that workers share it. */
const fewInputs = 2
const fewRows = 32_768

/** Rows of small requests are about as many at most: then they are sealed. */
const spanRows = 4096

/** What is printed by one task at most, in a worker and in this thread. */
export const printedBytes = { worker: 1 << 20, here: 1 << 18 }

export function readsLittle(run: PlanRun): boolean {
  if (isLookUp(run.plan)) return true
  const inputs = inputsOf(splitInputs(run))
  const rows = inputs.reduce((sum, input) => sum + rowsOf(input), 0)
  // Parts are short and lie in memory: only their rows count.
  const counted = inputs.filter(({ kind }) => kind !== 'part').length
  return counted <= fewInputs && rows <= fewRows
}

export function answerAtOnce(run: PlanRun, form: RowForm): Promise<AnswerResult> {
  const { plan, pool, audit, cancelled } = run
  const split = splitInputs(run)
  const isHere = pool.read((reads) => isSmall(plan, inputsOf(split), reads))
  const task = answerTask(run, split, form, {
    isProfiled: audit.isKept,
    budgetBytes: pool.budgetBytes,
    printedBytes: isHere ? printedBytes.here : printedBytes.worker,
    cancelled,
  })
  return pool.run(task, isHere)
}

type AnswerOptions = Pick<AnswerTask, 'printedBytes'> &
  Pick<AnswerTask['scan'], 'isProfiled' | 'budgetBytes' | 'cancelled'>

/** The task that does it all. */
export function answerTask(
  run: Pick<PlanRun, 'plan' | 'context' | 'traceSets' | 'snapshot'>,
  split: SplitInputs,
  form: RowForm,
  { printedBytes, isProfiled, budgetBytes, cancelled }: AnswerOptions,
): AnswerTask {
  const { plan, context, traceSets, snapshot } = run
  return {
    kind: 'answer',
    scan: {
      kind: 'scan',
      plan,
      context,
      traceSets,
      dictionaries: [],
      settling: undefined,
      snapshot: { transaction: snapshot.transaction },
      inputs: inputsOf(split),
      share: undefined,
      wanted: wantedRows(plan),
      threshold: undefined,
      mayBePartial: false,
      isProfiled,
      budgetBytes,
      cancelled,
    },
    known: split.known,
    form,
    printedBytes,
  }
}

export function inputsOf({ pieces, others }: SplitInputs): TaskInput[] {
  return [...others, ...pieces.map(({ input }) => input)]
}

function rowsOf(input: TaskInput): number {
  switch (input.kind) {
    case 'segment':
    case 'part':
      return input.to - input.from
    case 'delta':
    case 'history':
      return spanRows
    case 'lost':
      return input.indexes.length
    case 'records':
      return input.ids.length
  }
}
