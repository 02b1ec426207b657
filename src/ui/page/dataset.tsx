/** One dataset: its records as they are or were, its versions, and what lies between two of them. */
import { useState } from 'preact/hooks'
import { Link } from '../component/link.tsx'
import { Menu } from '../component/menu.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { type Dataset, datasetByName } from '../service/dataset.ts'
import { snapshotsOf, versionsOf } from '../service/dataset-version.ts'
import { useLoaded } from '../service/load.ts'
import { useProject } from '../service/project.ts'
import { quoted } from '../service/query.ts'
import { parameter, parts, pathOf, setParameters } from '../state/location.ts'
import { DatasetDifference } from './dataset-difference.tsx'
import { DatasetImport } from './dataset-import.tsx'
import { DatasetRecords } from './dataset-records.tsx'
import { DatasetVersions } from './dataset-versions.tsx'
import { exportFormats, exportQuery } from './query-export.ts'

export function DatasetPage({
  projectName,
  name,
}: {
  readonly projectName: string
  readonly name: string
}) {
  const project = useProject(projectName)
  const projectId = project.data?.id
  const key = projectId === undefined ? undefined : `dataset ${projectId} ${name}`
  const dataset = useLoaded(key, (signal) => datasetByName(projectId!, name, signal))
  if (project.error) return <Failure error={project.error} retry={project.reload} />
  if (dataset.error) return <Failure error={dataset.error} retry={dataset.reload} />
  if (dataset.data?.name !== name) return <Loading what={name} />
  return <Contents key={dataset.data.id} dataset={dataset.data} />
}

function Contents({ dataset }: { readonly dataset: Dataset }) {
  const { id, name, description } = dataset
  const [round, setRound] = useState(0)
  const [isImporting, setImporting] = useState(false)
  const [isAdding, setAdding] = useState(false)
  const version = parameter('version')
  const from = parameter('from')
  const versions = useLoaded(`versions ${id} ${round}`, (signal) => versionsOf(id, signal))
  const snapshots = useLoaded(`snapshots ${id} ${round}`, (signal) => snapshotsOf(id, signal))
  const changed = () => setRound((count) => count + 1)
  const newest = versions.data?.[0]?.id
  return (
    <div class="experiment dataset">
      <header class="page-head">
        <div class="titles">
          <p class="crumbs">
            <Link to={pathOf(...parts.value.slice(0, 5))}>Datasets</Link>
          </p>
          <h1>{name}</h1>
          {description && <p class="hint facts">{description}</p>}
        </div>
        <div class="tools">
          <DatasetVersions
            datasetId={id}
            versions={versions.data ?? []}
            snapshots={snapshots.data ?? []}
            onChange={changed}
          />
          <Menu
            label="Export"
            items={exportFormats
              .filter(({ id: format }) => format !== 'json' && format !== 'arrow')
              .map(({ id: format, title, detail }) => ({
                label: title,
                detail,
                onChoose: () => void exportQuery(exported(id), format, version),
              }))}
          />
          {version === undefined && from === undefined && (
            <>
              <button type="button" onClick={() => setImporting(true)}>
                Import
              </button>
              <button
                type="button"
                class="primary"
                onClick={() => {
                  setParameters({ row: undefined })
                  setAdding(true)
                }}
              >
                Add record
              </button>
            </>
          )}
        </div>
      </header>
      {versions.error && <Failure error={versions.error} retry={versions.reload} />}
      {snapshots.error && <Failure error={snapshots.error} retry={snapshots.reload} />}
      {from !== undefined && newest !== undefined ? (
        <DatasetDifference datasetId={id} from={from} to={version ?? newest} />
      ) : (
        <DatasetRecords
          datasetId={id}
          version={version}
          round={round}
          isAdding={isAdding}
          onAdded={() => setAdding(false)}
          onChange={changed}
          onImport={() => setImporting(true)}
        />
      )}
      {isImporting && (
        <DatasetImport datasetId={id} onClose={() => setImporting(false)} onChange={changed} />
      )}
    </div>
  )
}

/** What an import takes again. */
function exported(id: string): string {
  return `select: id, input, expected, metadata, tags, created\nfrom: dataset(${quoted(id)})`
}
