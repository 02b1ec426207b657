import { moments } from '../component/moments.ts'
import { changeView, pastLengths, type TimeRange } from './log-view.ts'

/** Which while is looked at. */
export function TimeChoice({ time }: { readonly time: TimeRange | undefined }) {
  const value = time?.kind === 'past' ? time.length : (time?.kind ?? 'all')
  return (
    <select
      aria-label="Time"
      value={value}
      onChange={(event) => {
        const length = event.currentTarget.value
        const next: TimeRange | undefined = length === 'all' ? undefined : { kind: 'past', length }
        changeView({ time: next }, { replace: false })
      }}
    >
      <option value="all">All times</option>
      {pastLengths.map(([id, , title]) => (
        <option key={id} value={id}>
          Past {title}
        </option>
      ))}
      {time?.kind === 'between' && (
        <option value="between">
          {shortTime(time.from)} – {shortTime(time.to)}
        </option>
      )}
    </select>
  )
}

function shortTime(text: string): string {
  return moments.format(new Date(text))
}
