import { useState } from 'preact/hooks'
import type { Checked, Problem } from '../editor/service.ts'

/** What the service has against the query as it is written; choosing a problem leads to its place. */
export function QueryProblems({
  checked,
  onShow,
}: {
  readonly checked: Checked | undefined
  readonly onShow: (problem: Problem) => void
}) {
  const [isWhole, setWhole] = useState(false)
  const problems = checked?.diagnostics ?? []
  const shown = isWhole ? problems : problems.slice(0, firstProblems)
  return (
    <ul class="problems" aria-label="Problems" aria-live="polite">
      {shown.map((problem) => (
        <li key={`${problem.code} ${problem.line} ${problem.column}`} class={problem.severity}>
          <button type="button" class="plain" onClick={() => onShow(problem)}>
            {problem.line !== undefined && (
              <span class="hint place">
                {problem.line}:{problem.column}
              </span>
            )}
            <strong>{names[problem.severity]}</strong>
            <span>
              {problem.message}
              {problem.hint !== undefined && <span class="hint"> — {problem.hint}</span>}
            </span>
          </button>
        </li>
      ))}
      {problems.length > shown.length && (
        <li>
          <button type="button" onClick={() => setWhole(true)}>
            {problems.length - shown.length} more
          </button>
        </li>
      )}
    </ul>
  )
}

const firstProblems = 3
const names = { error: 'Error', warning: 'Warning', info: 'Note' } as const
