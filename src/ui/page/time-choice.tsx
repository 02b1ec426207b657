import { moment } from '../component/format.ts'
import { Select } from '../component/select.tsx'
import { changeView, pastLengths, type TimeRange } from './log-view.ts'

/** Which while is looked at. */
export function TimeChoice({ time }: { readonly time: TimeRange | undefined }) {
  const value = time?.kind === 'past' ? time.length : (time?.kind ?? 'all')
  return (
    <Select
      label="Time"
      value={value}
      options={[
        { value: 'all', label: 'All times' },
        ...pastLengths.map(([id, , title]) => ({ value: id, label: `Past ${title}` })),
        ...(time?.kind === 'between'
          ? [{ value: 'between', label: `${shortTime(time.from)} – ${shortTime(time.to)}` }]
          : []),
      ]}
      onChange={(length) => {
        const next: TimeRange | undefined = length === 'all' ? undefined : { kind: 'past', length }
        changeView({ time: next }, { replace: false })
      }}
    />
  )
}

function shortTime(text: string): string {
  return moment(new Date(text))
}
