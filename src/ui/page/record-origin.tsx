/** Links between a record of a dataset and the span or example that it comes from, both ways. */
import { useState } from 'preact/hooks'
import { lazy } from '../component/lazy.tsx'
import { Link } from '../component/link.tsx'
import type { RecordPlace } from '../service/feedback.ts'
import { useLoaded } from '../service/load.ts'
import { findOrigin, type Origin, originOf, recordsFrom } from '../service/origins.ts'
import { useProject } from '../service/project.ts'
import { at, query, quoted } from '../service/query.ts'
import { useRights } from '../service/rights.ts'
import { parts, pathOf, shownProject } from '../state/location.ts'

const AddToDataset = lazy('the datasets', async () => {
  return (await import('./add-to-dataset.tsx')).AddToDataset
})

function pathIn(names: readonly string[], parameters: Readonly<Record<string, string>>): string {
  const [app = 'app', organization = ''] = parts.value
  return `${pathOf(app, organization, ...names)}?${new URLSearchParams(parameters)}`
}

/** Of a record of a dataset: where it comes from, if it says so. */
export function RecordOrigin({
  datasetId,
  id,
  version,
}: {
  readonly datasetId: string
  readonly id: string
  readonly version: string | undefined
}) {
  const { data: origin } = useLoaded<Origin | null>(
    `origin ${datasetId} ${id} ${version}`,
    async (signal) => {
      const text = `select: origin\nfrom: dataset(${quoted(datasetId)})\nfilter: id = ${quoted(id)}`
      const { data } = await query(text, signal, version)
      return originOf(at(data[0], 'origin')) ?? null
    },
  )
  const found = useLoaded(origin ? `${origin.place.objectId} ${origin.id}` : undefined, (signal) =>
    findOrigin(origin!, signal),
  )
  if (!origin) return null
  return (
    <p class="hint record-origin">
      {found.data ? (
        <>
          Comes from{' '}
          <Link to={pathIn(found.data.names, found.data.parameters)}>{found.data.title}</Link>
        </>
      ) : found.error ? (
        found.error.message
      ) : (
        'Comes from…'
      )}
    </p>
  )
}

/** Of a span: the datasets that it went to, and a button that adds it to one. */
export function SpanDatasets({ place, id }: { readonly place: RecordPlace; readonly id: string }) {
  const projectName = shownProject.value ?? ''
  const { data: project } = useProject(projectName)
  const projectId = project?.id
  const { data: rights } = useRights('project', projectId)
  const inDatasets = rights?.within.dataset ?? []
  // Who may only make datasets may not write to them.
  const mayAdd = inDatasets.includes('update')
  const [isAsked, setAsked] = useState(false)
  const [round, setRound] = useState(0)
  const records = useLoaded(
    projectId && inDatasets.includes('read') ? `records from ${id} ${round}` : undefined,
    (signal) => recordsFrom(projectId!, { place, id }, signal),
  )
  const found = records.data ?? []
  if (!mayAdd && found.length === 0) return null
  return (
    <section class="feedback" aria-label="Datasets">
      <h4>Datasets</h4>
      <ul class="origin-list">
        {found.map((record) => (
          <li key={record.id}>
            <Link
              to={pathIn(['p', projectName, 'datasets', record.dataset.name], { row: record.id })}
            >
              {record.dataset.name}
            </Link>
          </li>
        ))}
        <li hidden={!mayAdd}>
          <button type="button" onClick={() => setAsked(true)}>
            + Dataset
          </button>
        </li>
      </ul>
      {isAsked && (
        <AddToDataset
          projectName={projectName}
          rows={{ kind: 'span', place, picked: { records: new Set([id]) } }}
          onClose={() => setAsked(false)}
          onDone={() => setRound((count) => count + 1)}
        />
      )}
    </section>
  )
}
