/** Asks what becomes a queue of reviews, or changes one: who answers which of the project's scores. */
import { useState } from 'preact/hooks'
import { FormDialog } from '../component/dialog.tsx'
import { ChecksField, ChoiceField, TextField, textOf, textsOf } from '../component/field.tsx'
import { counted } from '../component/format.ts'
import { Failure, Loading } from '../component/notice.tsx'
import { listDatasets } from '../service/dataset.ts'
import { listExperiments } from '../service/experiment.ts'
import type { RecordPlace } from '../service/feedback.ts'
import { useLoaded } from '../service/load.ts'
import { isServiceAccount, listAll, nameOfUser, type User } from '../service/people.ts'
import { type PickedRows, sizeOf, sourceOf } from '../service/picked-rows.ts'
import { interpret } from '../service/query.ts'
import { isOfRecords } from '../service/query-text.ts'
import {
  changeQueue,
  createQueue,
  mostRecords,
  type Queue,
  recordsToReview,
  reviewScores,
} from '../service/review.ts'
import { goTo, parts, pathOf } from '../state/location.ts'
import { ScoreFields, scoreFrom } from './review-scores.tsx'

export interface ReviewDialogProps {
  readonly projectId: string
  readonly projectName: string
  /** What is reviewed; without it, the dialog asks. */
  readonly rows?: PickedRows
  /** The one that is changed: its records stay. */
  readonly queue?: Queue
  readonly onClose: () => void
  readonly onChange?: () => void
}

const everyone = 'all'

function titleOf(queue: Queue | undefined, rows: PickedRows | undefined): string {
  if (queue) return `Change “${queue.name}”`
  return rows ? `Review ${counted(sizeOf(rows.picked), rows.kind)}` : 'New review queue'
}

export function ReviewDialog(props: ReviewDialogProps) {
  const { projectId, projectName, rows, queue, onClose, onChange } = props
  const { data, error } = useLoaded(`review choices ${projectId}`, async (signal) => {
    const [scores, users] = await Promise.all([
      reviewScores(projectId, signal),
      listAll<User>('/v1/user', signal),
    ])
    return { scores, people: users.filter((user) => !isServiceAccount(user)) }
  })
  const save = async (form: FormData) => {
    const scores = textsOf(form, 'scores')
    const added = await scoreFrom(projectId, form)
    const asked = added === undefined ? scores : [...scores, added]
    if (asked.length === 0) throw new Error('Choose a score that reviewers give, or name a new one')
    const each = textOf(form, 'each')
    const asking = {
      name: textOf(form, 'name'),
      scores: asked,
      reviewers: textsOf(form, 'reviewers'),
      answersPerRecord: each === everyone || each === '' ? null : Number(each),
      isBlind: form.has('blind'),
    }
    if (queue) {
      await changeQueue(projectId, { ...queue, ...asking })
      onClose()
      onChange?.()
      return
    }
    const signal = new AbortController().signal
    const picked = rows ?? (await rowsFrom(projectId, form, signal))
    const records = await recordsToReview(picked, signal)
    if (records.length === 0)
      throw new Error('Nothing is found by that: there is nothing to review')
    const id = await createQueue(projectId, { ...asking, place: picked.place, records })
    const [, organization = ''] = parts.value
    goTo(pathOf('app', organization, 'p', projectName, 'review', id))
  }
  return (
    <FormDialog
      title={titleOf(queue, rows)}
      verb={queue ? 'Save' : 'Create'}
      onClose={onClose}
      onSubmit={save}
    >
      {error ? (
        <Failure error={error} />
      ) : !data ? (
        <Loading what="scores and members" />
      ) : (
        <>
          <TextField label="Name" name="name" value={queue?.name ?? ''} isRequired isFirst />
          {!rows && !queue && <SourceFields projectId={projectId} />}
          {data.scores.length > 0 && (
            <ChecksField
              label="Scores to give"
              name="scores"
              choices={data.scores.map(({ name }) => ({ value: name, label: name }))}
              chosen={new Set(queue?.scores ?? data.scores.map(({ name }) => name))}
            />
          )}
          <ScoreFields isOpen={data.scores.length === 0} />
          <ReviewerFields people={data.people} queue={queue} />
          <p class="hint">
            {queue
              ? 'Answers that were given stay. With other reviewers, records are dealt out anew.'
              : `A queue holds at most ${counted(mostRecords, 'record')}, as they are found now. Each reviewer’s answers are kept.`}
          </p>
        </>
      )}
    </FormDialog>
  )
}

function ReviewerFields({
  people,
  queue,
}: {
  readonly people: readonly User[]
  readonly queue: Queue | undefined
}) {
  const [each, setEach] = useState(String(queue?.answersPerRecord ?? everyone))
  const counts = Array.from({ length: Math.min(people.length - 1, 5) }, (_, i) => i + 1)
  return (
    <>
      <ChecksField
        label="Reviewers"
        name="reviewers"
        choices={people.map((user) => ({ value: user.id, label: nameOfUser(user) }))}
        chosen={new Set(queue?.reviewers)}
        hint="Without a choice, everybody who may change the records reviews all of them."
      />
      {counts.length > 0 && (
        <ChoiceField
          label="Each record is reviewed by"
          name="each"
          value={each}
          onChange={setEach}
          choices={[
            { value: everyone, label: 'All reviewers' },
            ...counts.map((count) => ({
              value: String(count),
              label: count === 1 ? '1 of them' : `${count} of them`,
            })),
          ]}
        />
      )}
      <label class="one">
        <input type="checkbox" name="blind" defaultChecked={queue?.isBlind ?? false} /> Show
        reviewers what others answered only once they have answered all of theirs
      </label>
    </>
  )
}

function SourceFields({ projectId }: { readonly projectId: string }) {
  const { data } = useLoaded(`sources to review ${projectId}`, async (signal) => {
    const [experiments, datasets] = await Promise.all([
      listExperiments(projectId, { limit: 100 }, signal),
      listDatasets(projectId, signal),
    ])
    return [
      ...experiments.map(({ id, name }) => ({
        value: `experiment ${id}`,
        label: `Experiment ${name}`,
      })),
      ...datasets.map(({ id, name }) => ({ value: `dataset ${id}`, label: `Dataset ${name}` })),
    ]
  })
  const logs = { value: `project_logs ${projectId}`, label: 'Logs of this project' }
  const [source, setSource] = useState(logs.value)
  return (
    <>
      <ChoiceField
        label="Records of"
        name="source"
        choices={[logs, ...(data ?? [])]}
        value={source}
        onChange={setSource}
      />
      <TextField
        label="That match"
        name="words"
        placeholder="Everything"
        hint="Words, or a condition such as scores.quality < 0.5."
      />
    </>
  )
}

/** What the form's source and words find. */
async function rowsFrom(
  projectId: string,
  form: FormData,
  signal: AbortSignal,
): Promise<PickedRows> {
  const [type = 'project_logs', objectId = projectId] = textOf(form, 'source').split(' ')
  const place = { type: type as RecordPlace['type'], objectId }
  const isOfDataset = place.type === 'dataset'
  const source = isOfDataset ? sourceOf(place) : `${sourceOf(place)} summary`
  const words = textOf(form, 'words')
  const query =
    words === '' ? `select: *\nfrom: ${source}` : (await interpret(words, source, signal)).query
  if (!isOfRecords(query)) throw new Error('That groups records: a queue takes records themselves')
  const kind = isOfDataset ? 'span' : place.type === 'experiment' ? 'example' : 'trace'
  return { kind, place, picked: { query, count: mostRecords } }
}
