/**
 * Human review. A queue is a view of the project, which keeps the records, the scores that are asked for,
 * and who is to answer. An answer is merged into its record, as feedback is, and stays in the record's audit
 * data under the name of who gave it: what another reviewer says later takes nothing of it away.
 */
import { isObject } from '../component/format.ts'
import { requestJson } from './client.ts'
import { timeOf } from './dataset-version.ts'
import { type RecordPlace, type ScoreKind, scoreKinds } from './feedback.ts'
import type { PickedRows } from './picked-rows.ts'
import { idsPerRequest, recordIds, recordsOf } from './picked-rows.ts'
import { at, type Row } from './query.ts'
import { withClauses } from './query-text.ts'

/** Records of a queue; more than that nobody reads. */
export const mostRecords = idsPerRequest

export interface Queue {
  readonly id: string
  readonly name: string
  readonly created: string | null
  readonly place: RecordPlace
  /** Of the records, in the order in which they are reviewed. */
  readonly records: readonly string[]
  /** Names of the scores that are asked for. */
  readonly scores: readonly string[]
  /** Ids of those who are to answer; nobody stands for everybody. */
  readonly reviewers: readonly string[]
  /** How many of them answer each record; null is all. */
  readonly answersPerRecord: number | null
  /** Whether reviewers see what others said only once they have answered all of theirs. */
  readonly isBlind: boolean
}

export type NewQueue = Omit<Queue, 'id' | 'created'>

const viewTypes: Readonly<Record<RecordPlace['type'], string>> = {
  project_logs: 'for_review_project_log',
  experiment: 'for_review_experiments',
  dataset: 'for_review_datasets',
}

export async function listQueues(projectId: string, signal: AbortSignal): Promise<Queue[]> {
  const lists = await Promise.all(
    Object.values(viewTypes).map((type) => {
      const target = `/v1/view?object_type=project&object_id=${projectId}&view_type=${type}&limit=1000`
      return requestJson<{ objects: readonly Row[] }>(target, { signal })
    }),
  )
  const queues = lists.flatMap(({ objects }) => objects.flatMap(queueOf))
  return queues.sort((a, b) => (b.created ?? '').localeCompare(a.created ?? ''))
}

/** Nothing for views that other clients have saved under these types, which are no queues. */
function queueOf(view: Row): Queue[] {
  const review = at(view, 'view_data', 'review')
  const type = at(review, 'object_type')
  const objectId = at(review, 'object_id')
  if (typeof type !== 'string' || !(type in viewTypes) || typeof objectId !== 'string') return []
  const answers = at(review, 'answers_per_record')
  return [
    {
      id: String(view.id),
      name: String(view.name),
      created: typeof view.created === 'string' ? view.created : null,
      place: { type: type as RecordPlace['type'], objectId },
      records: texts(at(review, 'records')),
      scores: texts(at(review, 'scores')),
      reviewers: texts(at(review, 'reviewers')),
      answersPerRecord: typeof answers === 'number' ? answers : null,
      isBlind: at(review, 'is_blind') === true,
    },
  ]
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

export async function createQueue(projectId: string, queue: NewQueue): Promise<string> {
  const body = { ...viewOf(projectId, queue), view_type: viewTypes[queue.place.type] }
  const { id } = await requestJson<{ id: string }>('/v1/view', { body })
  return id
}

/** Answers that were given stay, also those to what is no longer asked. */
export async function changeQueue(projectId: string, { id, ...queue }: Queue): Promise<void> {
  await requestJson(`/v1/view/${id}`, { method: 'PATCH', body: viewOf(projectId, queue) })
}

function viewOf(projectId: string, queue: NewQueue) {
  const { name, place, records, scores, reviewers, answersPerRecord, isBlind } = queue
  const review = {
    object_type: place.type,
    object_id: place.objectId,
    records,
    scores,
    reviewers,
    answers_per_record: answersPerRecord,
    is_blind: isBlind,
  }
  return { object_type: 'project', object_id: projectId, name, view_data: { review } }
}

export async function deleteQueue(projectId: string, id: string): Promise<void> {
  const body = { object_type: 'project', object_id: projectId }
  await requestJson(`/v1/view/${id}`, { method: 'DELETE', body })
}

/** Ids of the first records of what is picked. */
export async function recordsToReview(rows: PickedRows, signal: AbortSignal): Promise<string[]> {
  const { picked } = rows
  const some =
    'query' in picked
      ? { ...picked, query: withClauses(picked.query, { limit: String(mostRecords) }) }
      : picked
  const ids = await recordIds({ ...rows, picked: some }, signal)
  return ids.slice(0, mostRecords).map(({ id }) => id)
}

/** A category by its name, several by theirs, a slider from 0 to 1, or what somebody wrote. */
export type ReviewAnswer = string | readonly string[] | number

export interface Category {
  readonly name: string
  readonly value: number
}

/** A score that people give. */
export interface ReviewScore {
  readonly name: string
  readonly description: string | null
  readonly form: 'categories' | 'slider' | 'text'
  readonly categories: readonly Category[]
  readonly takesSeveral: boolean
  /** Categories are the expected value in place of a score. */
  readonly isExpected: boolean
}

/** Those of the project that people give: in its order, or the oldest first. */
export async function reviewScores(projectId: string, signal: AbortSignal): Promise<ReviewScore[]> {
  const kinds = (await scoreKinds(projectId, signal)).toReversed()
  const placeOf = ({ position }: ScoreKind) => position ?? ''
  return kinds
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : placeOf(a) > placeOf(b) ? 1 : 0))
    .flatMap(reviewScoreOf)
}

function reviewScoreOf(kind: ScoreKind): ReviewScore[] {
  const forms = new Map([
    ['categorical', 'categories'],
    ['slider', 'slider'],
    ['free-form', 'text'],
  ] as const)
  const form = forms.get(kind.score_type as 'slider')
  if (form === undefined) return []
  const categories = Array.isArray(kind.categories)
    ? kind.categories.flatMap((each: unknown): Category[] =>
        isObject(each) && typeof each.name === 'string' && typeof each.value === 'number'
          ? [{ name: each.name, value: each.value }]
          : [],
      )
    : []
  if (form === 'categories' && categories.length === 0) return []
  const isExpected = at(kind.config, 'destination') === 'expected'
  const takesSeveral = isExpected && at(kind.config, 'multi_select') === true
  const { name, description } = kind
  return [{ name, description, form, categories, takesSeveral, isExpected }]
}

export interface NewReviewScore {
  readonly name: string
  readonly form: ReviewScore['form']
  readonly categories: readonly Category[]
}

export async function createReviewScore(projectId: string, score: NewReviewScore): Promise<void> {
  const types = { categories: 'categorical', slider: 'slider', text: 'free-form' } as const
  const body = {
    project_id: projectId,
    name: score.name,
    score_type: types[score.form],
    ...(score.form === 'categories' && { categories: score.categories }),
  }
  await requestJson('/v1/project_score', { body })
}

export type Answers = Readonly<Record<string, ReviewAnswer>>

/** What one reviewer has said of one record. */
export interface Review {
  readonly record: string
  readonly reviewer: string
  readonly answers: Answers
  /** When the newest of them was given. */
  readonly at: Date
}

export interface ReviewState {
  readonly queue: Queue
  /** Those that the queue asks for, in its order. */
  readonly scores: readonly ReviewScore[]
  readonly reviews: readonly Review[]
}

/** Whether a reviewer has given all that is asked for, less free text, which may stay empty. */
export function isComplete(review: Review | undefined, scores: readonly ReviewScore[]): boolean {
  if (!review) return false
  const needed = scores.filter(({ form }) => form !== 'text')
  return needed.every(({ name }) => review.answers[name] !== undefined)
}

/** The newest answers of each reviewer, of all records of the queue. */
export async function reviewsOf(queue: Queue, signal: AbortSignal): Promise<Review[]> {
  if (queue.records.length === 0) return []
  const rows = await recordsOf(queue.place, queue.records, 'id, audit_data', signal)
  return rows.flatMap((row) => reviewsIn(row, queue.id))
}

function reviewsIn({ id, audit_data }: Row, queueId: string): Review[] {
  const found = new Map<string, Review>()
  const record = String(id)
  for (const entry of Array.isArray(audit_data) ? audit_data : []) {
    const reviewer = at(entry, 'metadata', 'user_id')
    const review = at(entry, 'metadata', 'review')
    const answers = at(review, 'answers')
    if (at(review, 'queue_id') !== queueId || typeof reviewer !== 'string') continue
    if (!isObject(answers)) continue
    const before = found.get(reviewer)?.answers
    const given = timeOf(String(at(entry, '_xact_id')))
    found.set(reviewer, {
      record,
      reviewer,
      answers: { ...before, ...(answers as Answers) },
      at: given,
    })
  }
  return [...found.values()]
}

/** Merges the answers into the record. The service keeps who gave them: whoever is signed in. */
export async function giveAnswers(
  queue: Queue,
  record: string,
  scores: readonly ReviewScore[],
  answers: Answers,
): Promise<void> {
  const { type, objectId } = queue.place
  const event = {
    id: record,
    _is_merge: true,
    ...fieldsOf(type, scores, answers),
    _audit_source: 'app',
    _audit_metadata: { review: { queue_id: queue.id, answers } },
  }
  await requestJson(`/v1/${type}/${objectId}/insert`, { body: { events: [event] } })
}

/** Where answers are in the record: records of datasets have no scores, and keep them in their metadata. */
function fieldsOf(
  type: RecordPlace['type'],
  scores: readonly ReviewScore[],
  answers: Answers,
): Row {
  const numbers: Record<string, number> = {}
  const metadata: Record<string, ReviewAnswer> = {}
  let expected: ReviewAnswer | undefined
  for (const score of scores) {
    const answer = answers[score.name]
    if (answer === undefined) continue
    const value = score.categories.find(({ name }) => name === answer)?.value ?? answer
    if (score.isExpected) expected = answer
    else if (typeof value === 'number' && type !== 'dataset') numbers[score.name] = value
    else metadata[score.name] = answer
  }
  return {
    ...(Object.keys(numbers).length > 0 && { scores: numbers }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(expected !== undefined && { expected }),
  }
}

/** Records that a person is to answer: where not all answer all, the records are dealt out in turn. */
export function recordsFor(queue: Queue, person: string): readonly string[] {
  const { records, reviewers, answersPerRecord } = queue
  if (reviewers.length === 0) return records
  const place = reviewers.indexOf(person)
  if (place < 0) return []
  const count = reviewers.length
  const each = Math.min(answersPerRecord ?? count, count)
  return records.filter((_, i) => (place - ((i * each) % count) + count) % count < each)
}

/** Answers that the whole queue waits for; undefined where anybody may answer. */
export function answersWanted({ records, reviewers, answersPerRecord }: Queue): number {
  const each = Math.min(answersPerRecord ?? reviewers.length, reviewers.length)
  return records.length * Math.max(each, 1)
}
