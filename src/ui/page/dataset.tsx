/** One dataset: its records as they are or were, its versions, and what lies between two of them. */
import { useState } from 'preact/hooks'
import { Failure } from '../component/notice.tsx'
import { PageHead } from '../component/page-head.tsx'
import { type Dataset, datasetByName } from '../service/dataset.ts'
import { snapshotsOf, versionsOf } from '../service/dataset-version.ts'
import { useLoaded } from '../service/load.ts'
import { quoted } from '../service/query.ts'
import { useMay } from '../service/rights.ts'
import { parameter, parts, pathOf } from '../state/location.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { DatasetDifference } from './dataset-difference.tsx'
import { DatasetImport } from './dataset-import.tsx'
import { DatasetRecords } from './dataset-records.tsx'
import { DatasetVersions } from './dataset-versions.tsx'
import { ExportMenu } from './export-menu.tsx'
import { useNamedObject } from './named-object.tsx'

export function DatasetPage({
  projectName,
  name,
}: {
  readonly projectName: string
  readonly name: string
}) {
  const options = { kind: 'dataset', projectName, name, find: datasetByName }
  const { object, notice } = useNamedObject(options)
  if (notice) return notice
  return <Contents key={object.id} dataset={object} />
}

function Contents({ dataset }: { readonly dataset: Dataset }) {
  const { id, name, description } = dataset
  const [round, setRound] = useState(0)
  // Until it is known, the head and the records wait: they have more in them for those who may.
  const mayChange = useMay('dataset', id)('update')
  const version = parameter('version')
  const from = parameter('from')
  const versions = useLoaded(`versions ${id} ${round}`, (signal) => versionsOf(id, signal))
  const snapshots = useLoaded(`snapshots ${id} ${round}`, (signal) => snapshotsOf(id, signal))
  const changed = () => setRound((count) => count + 1)
  const newest = versions.data?.[0]?.id
  const isEditable = mayChange === true && version === undefined && from === undefined
  const opened = isEditable ? openedOf('import', 'add') : undefined
  return (
    <div class="experiment dataset">
      <PageHead
        from={{ title: 'Datasets', path: pathOf(...parts.value.slice(0, 5)) }}
        title={name}
        facts={description}
      >
        {mayChange !== undefined && (
          <>
            <DatasetVersions
              datasetId={id}
              versions={versions.data}
              snapshots={snapshots.data ?? []}
              mayChange={mayChange}
              onChange={changed}
            />
            <ExportMenu
              query={exported(id)}
              version={version}
              formats={['csv', 'jsonl', 'parquet']}
            />
            {isEditable && (
              <>
                <button type="button" onClick={() => openWindow('import')}>
                  Import
                </button>
                <button
                  type="button"
                  class="primary"
                  onClick={() => openWindow('add', undefined, { row: undefined })}
                >
                  Add record
                </button>
              </>
            )}
          </>
        )}
      </PageHead>
      {versions.error && <Failure error={versions.error} retry={versions.reload} />}
      {snapshots.error && <Failure error={snapshots.error} retry={snapshots.reload} />}
      {from !== undefined && newest !== undefined ? (
        <DatasetDifference datasetId={id} from={from} to={version ?? newest} />
      ) : (
        <DatasetRecords
          datasetId={id}
          version={version}
          round={round}
          mayChange={mayChange}
          isAdding={opened?.kind === 'add'}
          onChange={changed}
        />
      )}
      {opened?.kind === 'import' && (
        <DatasetImport datasetId={id} onClose={closeWindow} onChange={changed} />
      )}
    </div>
  )
}

/** What an import takes again. */
function exported(id: string): string {
  return `select: id, input, expected, metadata, tags, created\nfrom: dataset(${quoted(id)})`
}
