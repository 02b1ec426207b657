/** What can be done with rows that are selected: stands below their table. */
import { useState } from 'preact/hooks'
import { Confirm, FormDialog } from '../component/dialog.tsx'
import { TextField, textOf } from '../component/field.tsx'
import { counted, number } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { addTags, deleteRows, giveScore } from '../service/bulk-change.ts'
import { scoreKinds } from '../service/feedback.ts'
import { useLoaded } from '../service/load.ts'
import {
  isOneOf,
  type Picked,
  type PickedRows,
  pickedBy,
  sizeOf,
  sourceOf,
} from '../service/picked-rows.ts'
import { useMay } from '../service/rights.ts'
import { addressWith } from '../state/location.ts'
import { AddToDataset } from './add-to-dataset.tsx'
import { isBulkRunning, runBulk } from './bulk-run.tsx'
import { ExportMenu } from './export-menu.tsx'
import { ReviewDialog } from './review-dialog.tsx'

export interface PickedBarProps {
  readonly projectName: string
  readonly projectId: string
  readonly rows: PickedRows
  /** Finds all rows of the table, once it is known how many there are. */
  readonly all: Picked | undefined
  /** One may change these records. */
  readonly mayChange: boolean
  readonly mayAdd: boolean
  readonly onPick: (picked: Picked) => void
  /** Records are others than they were. */
  readonly onChange: (isDeleted: boolean) => void
}

const nothing: Picked = { ids: new Set() }

export function PickedBar(props: PickedBarProps) {
  const { projectName, projectId, rows, all, mayChange, mayAdd, onPick, onChange } = props
  const [asked, setAsked] = useState<'add' | 'tag' | 'score' | 'review' | 'delete'>()
  const { kind, picked } = rows
  const count = sizeOf(picked)
  const mayMakeQueues = useMay('project', projectId)('update')
  const close = () => setAsked(undefined)
  const offersAll = all !== undefined && 'ids' in picked && sizeOf(all) > count
  return (
    <div class="picked-bar" role="toolbar" aria-label="Selection">
      <strong>{counted(count, kind)} selected</strong>
      {!isBulkRunning() && (
        <>
          {offersAll && (
            <button type="button" class="plain link" onClick={() => onPick(all)}>
              Select all {number(sizeOf(all))}
            </button>
          )}
          {mayAdd && (
            <button type="button" class="primary" onClick={() => setAsked('add')}>
              Add to dataset
            </button>
          )}
          {mayChange && (
            <>
              <button type="button" onClick={() => setAsked('tag')}>
                Tag
              </button>
              <button type="button" onClick={() => setAsked('score')}>
                Score
              </button>
            </>
          )}
          {kind === 'trace' && 'ids' in picked && count === 2 && (
            <CompareLink ids={[...picked.ids]} />
          )}
          {mayMakeQueues && (
            <button type="button" onClick={() => setAsked('review')}>
              Review
            </button>
          )}
          <ExportMenu query={exportedRows(rows)} formats={['jsonl', 'csv', 'parquet']} />
          {mayChange && (
            <button type="button" class="danger" onClick={() => setAsked('delete')}>
              Delete
            </button>
          )}
          <button type="button" class="plain" title="Esc" onClick={() => onPick(nothing)}>
            Clear
          </button>
        </>
      )}
      {asked === 'add' && <AddToDataset projectName={projectName} rows={rows} onClose={close} />}
      {asked === 'tag' && <TagDialog rows={rows} onClose={close} onChange={onChange} />}
      {asked === 'score' && (
        <ScoreDialog projectId={projectId} rows={rows} onClose={close} onChange={onChange} />
      )}
      {asked === 'review' && (
        <ReviewDialog projectId={projectId} projectName={projectName} rows={rows} onClose={close} />
      )}
      {asked === 'delete' && (
        <Confirm
          title={`Delete ${counted(count, kind)}?`}
          verb="Delete"
          onClose={close}
          onConfirm={() => {
            void runBulk({
              title: 'Deleting',
              past: 'Deleted',
              one: kind,
              work: (watch) => deleteRows(rows, watch),
              onDone: () => {
                onPick(nothing)
                onChange(true)
              },
            })
            return Promise.resolve()
          }}
        >
          <p>
            {kind === 'span' ? '' : 'All spans of each are deleted with it. '}
            You can undo this for a few seconds afterwards; comments are not put back.
          </p>
        </Confirm>
      )}
    </div>
  )
}

function CompareLink({ ids: [first, second] }: { readonly ids: readonly string[] }) {
  return (
    <Link class="button" to={addressWith({ trace: first, with: second, span: undefined })}>
      Compare
    </Link>
  )
}

/** The rows as the service gives them, with nothing cut. */
function exportedRows({ kind, place, picked }: PickedRows): string {
  if ('query' in picked) return picked.query
  if ('records' in picked) {
    return `select: *\nfrom: ${sourceOf(place)}\nfilter: ${isOneOf('id', [...picked.records])}`
  }
  const source = kind === 'span' ? sourceOf(place) : `${sourceOf(place)} summary`
  const cut = kind === 'span' ? '' : '\npreview_length: -1'
  return `select: *\nfrom: ${source}\nfilter: ${isOneOf(pickedBy[kind], [...picked.ids])}${cut}`
}

interface DialogProps {
  readonly rows: PickedRows
  readonly onClose: () => void
  readonly onChange: (isDeleted: boolean) => void
}

function TagDialog({ rows, onClose, onChange }: DialogProps) {
  const { kind, picked } = rows
  return (
    <FormDialog
      title={`Tag ${counted(sizeOf(picked), kind)}`}
      verb="Tag"
      onClose={onClose}
      onSubmit={(form) => {
        const tags = textOf(form, 'tags')
          .split(',')
          .map((tag) => tag.trim())
          .filter((tag) => tag !== '')
        onClose()
        return runBulk({
          title: 'Tagging',
          past: 'Tagged',
          one: kind,
          skipped: tags.length === 1 ? 'had the tag already' : 'had the tags already',
          work: (watch) => addTags(rows, [...new Set(tags)], watch),
          onDone: () => onChange(false),
        })
      }}
    >
      <TextField
        label="Tags"
        name="tags"
        hint="Several are separated by commas. Tags that are there already stay."
        isRequired
        isFirst
      />
    </FormDialog>
  )
}

function ScoreDialog({
  projectId,
  rows,
  onClose,
  onChange,
}: DialogProps & { readonly projectId: string }) {
  const { kind, picked } = rows
  const { data: kinds = [] } = useLoaded(`score kinds ${projectId}`, (signal) =>
    scoreKinds(projectId, signal),
  )
  return (
    <FormDialog
      title={`Score ${counted(sizeOf(picked), kind)}`}
      verb="Score"
      onClose={onClose}
      onSubmit={(form) => {
        const name = textOf(form, 'name')
        const percent = Number(textOf(form, 'value').replace(/\s*%$/, ''))
        if (!(percent >= 0 && percent <= 100)) throw new Error('A score lies between 0 and 100 %')
        onClose()
        return runBulk({
          title: 'Scoring',
          past: 'Scored',
          one: kind,
          work: (watch) => giveScore(rows, name, percent / 100, watch),
          onDone: () => onChange(false),
        })
      }}
    >
      <TextField
        label="Name"
        name="name"
        isRequired
        isFirst
        {...(kinds.length > 0 && {
          hint: `Scores of this project: ${kinds.map((each) => each.name).join(', ')}`,
        })}
      />
      <TextField label="Score in per cent" name="value" placeholder="0 to 100" isRequired />
    </FormDialog>
  )
}
