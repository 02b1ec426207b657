/** Runs a plan that reads little in one task, so that one message goes to a worker, or none. */
import type { RowForm } from '../../executor/print/row-form.ts'
import type { AnswerResult, AnswerTask, TaskInput } from '../../executor/task/task.ts'
import { inlineBytes, isInline, isOneTask } from '../cost/cost.ts'
import { type PlanRun, type SplitInputs, splitInputs, wantedRows } from '../scan/scan-rows.ts'

/** What is printed by one task in a worker at most. */
const workerBytes = 2 ** 20

export function readsLittle(run: PlanRun): boolean {
  return isOneTask(run.plan, inputsOf(splitInputs(run)))
}

export function answerAtOnce(run: PlanRun, form: RowForm): Promise<AnswerResult> {
  const { plan, pool, audit, cancelled } = run
  const split = splitInputs(run)
  const isHere = pool.read((reads) => isInline(plan, inputsOf(split), reads))
  const task = answerTask(run, split, form, {
    isProfiled: audit.isKept,
    budgetBytes: pool.budgetBytes,
    printedBytes: isHere ? inlineBytes : workerBytes,
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
