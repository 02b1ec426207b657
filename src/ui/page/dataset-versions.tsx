/** Which version of a dataset is shown, against which it is held, snapshots, and ways back. */

import { Confirm, FormDialog } from '../component/dialog.tsx'
import { TextField, textOf } from '../component/field.tsx'
import { counted, number, time } from '../component/format.ts'
import { Menu } from '../component/menu.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { Select } from '../component/select.tsx'
import { tell, tellFailure } from '../component/toast.tsx'
import {
  createSnapshot,
  deleteSnapshot,
  previewRestoring,
  restoreVersion,
  type Snapshot,
  timeOf,
  type Version,
} from '../service/dataset-version.ts'
import { useLoaded } from '../service/load.ts'
import { parameter, setParameters } from '../state/location.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'

export interface DatasetVersionsProps {
  readonly datasetId: string
  /** The newest first; undefined until they are known, when the choices have their room already. */
  readonly versions: readonly Version[] | undefined
  readonly snapshots: readonly Snapshot[]
  /** Whether versions can be named and put back. */
  readonly mayChange: boolean
  readonly onChange: () => void
}

export function DatasetVersions({
  datasetId,
  versions: known,
  snapshots,
  mayChange,
  onChange,
}: DatasetVersionsProps) {
  const versions = known ?? []
  const version = parameter('version')
  const from = parameter('from')
  const asked = mayChange ? openedOf('snapshot', 'restore')?.kind : undefined
  const newest = versions[0]?.id
  if (known?.length === 0) return null
  const shown = version ?? newest ?? ''
  const snapshot = snapshots.find(({ xact_id }) => xact_id === shown)
  const isOld = known !== undefined && version !== undefined && version !== newest
  return (
    <>
      <VersionChoice
        label="Version"
        none="Latest"
        value={version}
        versions={versions}
        snapshots={snapshots}
        onChoose={(next) =>
          setParameters({ version: next, page: undefined, row: undefined }, { replace: false })
        }
      />
      <VersionChoice
        label="Changes since"
        none="Nothing"
        value={from}
        versions={versions.filter(({ id }) => id < shown)}
        snapshots={snapshots}
        onChoose={(next) =>
          setParameters({ from: next, page: undefined, row: undefined }, { replace: false })
        }
      />
      {mayChange && (
        <Menu
          label="Snapshot"
          isDisabled={shown === ''}
          items={[
            { label: 'Name this version…', onChoose: () => openWindow('snapshot') },
            ...(snapshot
              ? [
                  {
                    label: `Forget the name “${snapshot.name}”`,
                    onChoose: () => {
                      void deleteSnapshot(snapshot.id).then(onChange, tellFailure)
                    },
                  },
                ]
              : []),
            {
              label: 'Go back to this version…',
              detail: isOld ? undefined : 'it is the latest',
              isDisabled: !isOld,
              onChoose: () => openWindow('restore'),
            },
          ]}
        />
      )}
      {shown !== '' && asked === 'snapshot' && (
        <FormDialog
          title="Name this version"
          verb="Name it"
          onClose={closeWindow}
          onSubmit={async (form) => {
            await createSnapshot(datasetId, textOf(form, 'name'), shown)
            closeWindow()
            onChange()
          }}
        >
          <TextField
            label="Name"
            name="name"
            hint={`The records as of ${time(timeOf(shown).toISOString())}`}
            isRequired
            isFirst
          />
        </FormDialog>
      )}
      {isOld && asked === 'restore' && (
        <Confirm
          title="Go back to this version?"
          verb="Go back"
          onClose={closeWindow}
          onConfirm={async () => {
            await restoreVersion(datasetId, shown)
            tell('The records are as they were then')
            setParameters({ version: undefined, row: undefined })
            onChange()
          }}
        >
          <Restoring datasetId={datasetId} version={shown} />
        </Confirm>
      )}
    </>
  )
}

function Restoring({
  datasetId,
  version,
}: {
  readonly datasetId: string
  readonly version: string
}) {
  const { data, error } = useLoaded(`restoring ${version}`, (signal) =>
    previewRestoring(datasetId, version, signal),
  )
  if (error) return <Failure error={error} />
  if (!data) return <Loading what="what would change" />
  return (
    <p>
      {wouldChange(data.rows_to_restore, data.rows_to_delete)} It makes a new version; the others
      stay.
    </p>
  )
}

function VersionChoice({
  label,
  none,
  value,
  versions,
  snapshots,
  onChoose,
}: {
  readonly label: string
  readonly none: string
  readonly value: string | undefined
  readonly versions: readonly Version[]
  readonly snapshots: readonly Snapshot[]
  readonly onChoose: (id: string | undefined) => void
}) {
  const isOther = value !== undefined && !versions.some(({ id }) => id === value)
  const names = new Map(snapshots.map(({ xact_id, name }) => [xact_id, name]))
  return (
    <span class="version-choice">
      {label}{' '}
      <Select
        label={label}
        value={value ?? ''}
        options={[
          { value: '', label: none },
          ...snapshots.map(({ name, xact_id }) => ({
            value: xact_id,
            label: name,
            group: 'Snapshots',
          })),
          ...(isOther
            ? [{ value, label: time(timeOf(value).toISOString()), group: 'Versions' }]
            : []),
          ...versions
            .filter(({ id }) => !names.has(id))
            .map((version) => ({ value: version.id, label: titleOf(version), group: 'Versions' })),
        ]}
        onChange={(chosen) => onChoose(chosen || undefined)}
      />
    </span>
  )
}

function titleOf({ time: at, written, deleted }: Version): string {
  const parts = [
    ...(written > 0 ? [`${number(written)} written`] : []),
    ...(deleted > 0 ? [`${number(deleted)} deleted`] : []),
  ]
  return `${time(at.toISOString())}: ${parts.join(', ')}`
}

function wouldChange(restored: number, deleted: number): string {
  const [back, away] = [counted(restored, 'record'), counted(deleted, 'record')]
  if (deleted === 0) return `This writes back ${back} as of then.`
  if (restored === 0) return `This deletes ${away} that did not exist yet.`
  return `This writes back ${back} as of then, and deletes ${away} that did not exist yet.`
}
