/** A change to many records that is under way: how far it is, how to stop it, and what came of it. */
import { signal } from '@preact/signals'
import { counted, number } from '../component/format.ts'
import { type ToastAction, tell, tellFailure } from '../component/toast.tsx'
import type { Outcome, Watch } from '../service/bulk-change.ts'

interface Run {
  /** "Tagging" */
  readonly title: string
  readonly done: number
  /** Undefined until the records are known. */
  readonly total: number | undefined
  readonly abort: AbortController
}

/** One at a time, which goes on while one looks at other pages. */
const running = signal<Run | undefined>(undefined)

export interface BulkWork {
  /** "Tagging" */
  readonly title: string
  /** "Tagged" */
  readonly past: string
  /** What is counted: "trace". */
  readonly one: string
  readonly many?: string
  /** What follows the count: " to questions". */
  readonly where?: string
  /** Why some were left as they are: "had the tag already". */
  readonly skipped?: string
  readonly link?: ToastAction['link']
  readonly work: (watch: Watch) => Promise<Outcome>
  readonly onDone?: () => void
}

export function isBulkRunning(): boolean {
  return running.value !== undefined
}

let last: Promise<void> = Promise.resolve()

/** Begins once what was begun before has ended. Never rejects: what came of it is told at the edge of the page. */
export function runBulk(bulk: BulkWork): Promise<void> {
  last = last.then(() => runNow(bulk))
  return last
}

async function runNow(bulk: BulkWork): Promise<void> {
  const abort = new AbortController()
  running.value = { title: bulk.title, done: 0, total: undefined, abort }
  const onProgress = (done: number, total: number) => {
    running.value = { title: bulk.title, done, total, abort }
  }
  try {
    const outcome = await bulk.work({ onProgress, signal: abort.signal })
    tellOutcome(bulk, outcome)
  } catch (thrown) {
    if (abort.signal.aborted) tell('Stopped: nothing was changed')
    else tellFailure(thrown)
  } finally {
    running.value = undefined
  }
  bulk.onDone?.()
}

function tellOutcome(bulk: BulkWork, outcome: Outcome): void {
  const { one, many, past, where = '', link } = bulk
  const { done, skipped, refused, error, isStopped, undo } = outcome
  const parts = [
    `${isStopped ? 'Stopped. ' : ''}${past} ${counted(done, one, many)}${where}`,
    ...(skipped > 0 && bulk.skipped ? [`${number(skipped)} ${bulk.skipped}`] : []),
  ]
  const takeBack =
    undo &&
    (() => {
      const taken = { title: 'Undoing', past: 'Undone for', one, ...(many && { many }) }
      void runBulk({ ...taken, work: undo, ...(bulk.onDone && { onDone: bulk.onDone }) })
    })
  tell(parts.join('; '), {
    ...(takeBack && { label: 'Undo', onChoose: takeBack }),
    ...(link && done > 0 && { link }),
  })
  if (refused.length > 0) {
    const named = refused.slice(0, 3).map(({ id, reason }) => `${id}: ${reason}`)
    const rest = refused.length > 3 ? `; and ${number(refused.length - 3)} more` : ''
    tellFailure(
      new Error(`${counted(refused.length, 'record')} refused. ${named.join('; ')}${rest}`),
    )
  }
  if (error) tellFailure(new Error(`Not all were changed: ${error.message}`))
}

/** Over whatever page one looks at meanwhile. */
export function BulkProgress() {
  const run = running.value
  if (!run) return null
  const { title, done, total, abort } = run
  return (
    <section class="bulk-progress" aria-label="Change under way">
      <span role="status">
        {total === undefined
          ? `${title}: reading which records they are…`
          : `${title}: ${number(done)} of ${number(total)}`}
      </span>
      <progress aria-label={title} {...(total !== undefined && { max: total, value: done })} />
      <button type="button" disabled={abort.signal.aborted} onClick={() => abort.abort()}>
        {abort.signal.aborted ? 'Stopping…' : 'Stop'}
      </button>
    </section>
  )
}
