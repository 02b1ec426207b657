/** Runs a plan that reads little in one task, so that one message goes to a worker, or none. */
import type { RowForm } from '../executor/row-form.ts'
import type { AnswerResult, TaskInput } from '../executor/task.ts'
import { isLookUp, type PlanRun, splitInputs, wantedRows } from './scan-rows.ts'

/** What one task reads at most; with more, it pays that workers share it. */
const fewInputs = 2
const fewRows = 32_768

/** Rows of small requests are about as many at most: then they are sealed. */
const spanRows = 4096

/** What is printed by one task at most, in a worker and in this thread. */
const printedBytes = { worker: 1 << 20, here: 1 << 16 }

export function readsLittle(run: PlanRun): boolean {
  const { pieces, others } = splitInputs(run)
  if (isLookUp(run.plan)) return true
  const inputs = [...others, ...pieces.map(({ input }) => input)]
  const rows = inputs.reduce((sum, input) => sum + rowsOf(input), 0)
  // Parts are short and lie in memory: only their rows count.
  const counted = inputs.filter(({ kind }) => kind !== 'part').length
  return counted <= fewInputs && rows <= fewRows
}

export function answerAtOnce(run: PlanRun, form: RowForm): Promise<AnswerResult> {
  const { plan, context, traceSets, snapshot, pool, audit, cancelled } = run
  const { transaction } = snapshot
  const { pieces, others, known } = splitInputs(run)
  const inputs = [...others, ...pieces.map(({ input }) => input)]
  // Whatever scans is for workers.
  const isShort = isLookUp(plan) || inputs.length === 0
  return pool.run(
    {
      kind: 'answer',
      scan: {
        kind: 'scan',
        isProfiled: audit.isKept,
        plan,
        context,
        traceSets,
        dictionaries: [],
        settling: undefined,
        snapshot: { transaction },
        inputs,
        share: undefined,
        wanted: wantedRows(plan),
        threshold: undefined,
        budgetBytes: pool.budgetBytes,
        cancelled,
      },
      known,
      form,
      printedBytes: isShort ? printedBytes.here : printedBytes.worker,
    },
    isShort,
  )
}

function rowsOf(input: TaskInput): number {
  switch (input.kind) {
    case 'segment':
    case 'part':
      return input.to - input.from
    case 'delta':
    case 'history':
      return spanRows
    case 'records':
      return input.ids.length
  }
}
