/** Chooses the trace that an open one is compared with: a newer or older one of its name, or any by its id. */
import { useState } from 'preact/hooks'
import { duration, time } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Failure } from '../component/notice.tsx'
import { Popover } from '../component/popover.tsx'
import { useLoaded } from '../service/load.ts'
import { at, query, quoted } from '../service/query.ts'
import { addressWith, openBeside } from '../state/location.ts'

const mostOffered = 20

export interface CompareTraceProps {
  readonly source: string
  readonly rootSpanId: string
  /** Of its root. */
  readonly name: string
}

export function CompareTrace(props: CompareTraceProps) {
  return <Popover label="Compare">{(close) => <Choice {...props} onChosen={close} />}</Popover>
}

function Choice(props: CompareTraceProps & { readonly onChosen: () => void }) {
  const { source, rootSpanId, name, onChosen } = props
  const [written, setWritten] = useState('')
  const { data, error, reload } = useLoaded(`like ${source} ${name}`, async (signal) => {
    const answer = await query(
      `select: root_span_id, created, metrics.duration as duration\nfrom: ${source} summary\n` +
        `filter: span_attributes.name = ${quoted(name)} and root_span_id != ${quoted(rootSpanId)}\n` +
        `sort: created desc\nlimit: ${mostOffered}\npreview_length: 100`,
      signal,
    )
    return answer.data
  })
  return (
    <form
      class="compare-choice"
      onSubmit={(event) => {
        event.preventDefault()
        if (written.trim() === '') return
        openBeside({ with: written.trim(), span: undefined })
        onChosen()
      }}
    >
      <label>
        With the trace of an id
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={written}
          onInput={(event) => setWritten(event.currentTarget.value)}
        />
      </label>
      <p class="hint">Others called {name}, newest first:</p>
      {error && <Failure error={error} retry={reload} />}
      {data?.length === 0 && <p class="hint">There are none.</p>}
      <ul>
        {data?.map((row) => {
          const id = String(row.root_span_id)
          return (
            <li key={id}>
              <Link to={addressWith({ with: id, span: undefined })} class="name">
                {time(row.created)} <span class="hint">{duration(at(row, 'duration'))}</span>
              </Link>
            </li>
          )
        })}
      </ul>
    </form>
  )
}
