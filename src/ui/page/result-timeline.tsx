/** The audit log of a query: when its steps ran, what each operator did, and what was never read. */
import { CopyButton } from '../component/copy-button.tsx'
import { bytes, duration, number } from '../component/format.ts'
import type { AuditEvent } from '../service/answer.ts'

export function ResultTimeline({ events }: { readonly events: readonly AuditEvent[] }) {
  const steps = events.filter(({ event }) => event !== 'operator' && event !== 'skipped')
  const operators = events.filter(({ event }) => event === 'operator')
  const skipped = events.filter(({ event }) => event === 'skipped')
  return (
    <div class="timeline">
      <Steps steps={steps} />
      {operators.length > 0 && <Operators operators={operators} />}
      {skipped.length > 0 && <Skipped skipped={skipped} />}
      <CopyButton label="Copy the audit log" text={() => JSON.stringify(events, null, 2)} />
    </div>
  )
}

function Steps({ steps }: { readonly steps: readonly AuditEvent[] }) {
  const end = steps.reduce((latest, { at, duration }) => Math.max(latest, at + duration), 0) || 1
  return (
    <section>
      <h2>Steps</h2>
      <table class="steps" aria-label="Steps of the query">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">From 0 to {duration(end / 1000)}</th>
            <th scope="col" class="number">
              Took
            </th>
            <th scope="col">What it did</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step, i) => (
            <tr key={i}>
              <th scope="row">{step.event}</th>
              <td>
                <span class="bar-space">
                  <span
                    style={{
                      left: `${(step.at / end) * 100}%`,
                      width: `${Math.max((step.duration / end) * 100, 0.4)}%`,
                    }}
                  />
                </span>
              </td>
              <td class="number">{duration(step.duration / 1000)}</td>
              <td class="details">{detailsOf(step)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Operators({ operators }: { readonly operators: readonly AuditEvent[] }) {
  const longest = operators.reduce((most, { duration }) => Math.max(most, duration), 0) || 1
  const hasPlans = new Set(operators.map(({ plan }) => plan)).size > 1
  return (
    <section>
      <h2>Operators</h2>
      <table class="steps" aria-label="Operators of the query">
        <thead>
          <tr>
            {hasPlans && <th scope="col">Plan</th>}
            <th scope="col">Operator</th>
            <th scope="col">Time of all tasks</th>
            <th scope="col" class="number">
              Took
            </th>
            <th scope="col" class="number">
              Rows in
            </th>
            <th scope="col" class="number">
              Rows out
            </th>
            <th scope="col" class="number">
              Bytes
            </th>
            <th scope="col" class="number">
              Tasks
            </th>
          </tr>
        </thead>
        <tbody>
          {operators.map((step, i) => (
            <tr key={i}>
              {hasPlans && <td>{String(step.plan)}</td>}
              <th scope="row">{String(step.operator)}</th>
              <td>
                <span class="bar-space">
                  <span style={{ left: '0', width: `${(step.duration / longest) * 100}%` }} />
                </span>
              </td>
              <td class="number">{duration(step.duration / 1000)}</td>
              <td class="number">{number(step.rowsIn)}</td>
              <td class="number">{number(step.rowsOut)}</td>
              <td class="number">{bytes(step.bytes)}</td>
              <td class="number">{number(step.tasks)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Skipped({ skipped }: { readonly skipped: readonly AuditEvent[] }) {
  return (
    <section>
      <h2>Not read</h2>
      <table class="steps" aria-label="What was not read">
        <thead>
          <tr>
            <th scope="col">Ruled out by</th>
            <th scope="col" class="number">
              Segments
            </th>
            <th scope="col" class="number">
              Granules
            </th>
            <th scope="col" class="number">
              Rows
            </th>
          </tr>
        </thead>
        <tbody>
          {skipped.map((step, i) => (
            <tr key={i}>
              <th scope="row">{String(step.by)}</th>
              <td class="number">{number(step.segments)}</td>
              <td class="number">{number(step.granules)}</td>
              <td class="number">{number(step.rows)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** What a step says of itself besides its name and times. */
function detailsOf({ event: _, at: __, duration: ___, ...details }: AuditEvent): string {
  return Object.entries(details)
    .map(([name, value]) => [words(name), shown(value)])
    .filter(([, text]) => text !== '')
    .map((pair) => pair.join(': '))
    .join(' · ')
}

/** `rowsRead`: "rows read". */
function words(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function shown(value: unknown): string {
  if (typeof value === 'number') return number(value)
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, count]) => `${name} ${number(count)}`)
    .join(', ')
}
