/** One review queue: the records one after the other, and what all reviewers have said. */
import { number } from '../component/format.ts'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { PageHead } from '../component/page-head.tsx'
import { TabPanel, Tabs } from '../component/tabs.tsx'
import { useLoaded } from '../service/load.ts'
import type { Project } from '../service/project.ts'
import {
  answersWanted,
  isComplete,
  type Queue,
  type ReviewState,
  recordsFor,
  reviewScores,
  reviewsOf,
} from '../service/review.ts'
import { useMay, useMayChangeRecords } from '../service/rights.ts'
import { session } from '../service/session.ts'
import { addressWith, parameter, parts, pathOf, setParameters } from '../state/location.ts'
import { ReviewRecord } from './review-record.tsx'
import { ReviewResults } from './review-results.tsx'

export interface QueueProps {
  readonly project: Project
  readonly queue: Queue
}

const tabs = [
  { id: 'review', title: 'Review' },
  { id: 'results', title: 'Results' },
] as const

export function ReviewQueue({ project, queue }: QueueProps) {
  const me = session.value?.user.id ?? ''
  const mayChange = useMayChangeRecords(queue.place)
  const state = useLoaded(`reviews ${queue.id}`, async (signal) => {
    const [scores, reviews] = await Promise.all([
      reviewScores(project.id, signal),
      reviewsOf(queue, signal),
    ])
    const asked = queue.scores.flatMap((name) => scores.find((score) => score.name === name) ?? [])
    return { queue, scores: asked, reviews }
  })
  const current = parameter('tab') === 'results' ? 'results' : 'review'
  const mine = recordsFor(queue, me)
  const isManager = useMay('project', project.id)('update')
  // Whoever manages queues looks at one that is anybody's, but answers one's own unswayed as others do.
  const isBound = queue.reviewers.includes(me) || !isManager
  const mustWait =
    queue.isBlind && isBound && state.data !== undefined && isAtWork(state.data, mine, me)
  return (
    <div class="review">
      <PageHead
        from={{ title: 'Review', path: pathOf(...parts.value.slice(0, 5)) }}
        title={queue.name}
      >
        {state.data && <Progress state={state.data} mine={mine} me={me} />}
      </PageHead>
      <Tabs
        label="Queue"
        tabs={tabs}
        current={current}
        onChoose={(tab) => setParameters({ tab: tab === 'review' ? undefined : tab })}
        linkOf={(tab) => addressWith({ tab: tab === 'review' ? undefined : tab })}
      />
      <TabPanel label="Queue" current={current}>
        {state.error && <Failure error={state.error} retry={state.reload} />}
        {!state.data || mayChange === undefined ? (
          !state.error && <Loading what="the reviews" />
        ) : current === 'results' ? (
          mustWait ? (
            <Empty title="Not before you have answered" sketch="records">
              <p>What others said is shown once you have answered all of yours.</p>
            </Empty>
          ) : (
            <ReviewResults state={state.data} />
          )
        ) : (
          <ReviewRecord
            state={state.data}
            records={mine.length > 0 ? mine : queue.records}
            me={me}
            mayAnswer={mayChange && mine.length > 0}
            onAnswered={state.reload}
          />
        )}
      </TabPanel>
    </div>
  )
}

/** Whether a reviewer has records left to answer. */
function isAtWork({ reviews, scores }: ReviewState, mine: readonly string[], me: string): boolean {
  const own = new Map(
    reviews.flatMap((each) => (each.reviewer === me ? [[each.record, each] as const] : [])),
  )
  return mine.some((record) => !isComplete(own.get(record), scores))
}

function Progress({
  state: { queue, scores, reviews },
  mine,
  me,
}: {
  readonly state: ReviewState
  readonly mine: readonly string[]
  readonly me: string
}) {
  const complete = reviews.filter((review) => isComplete(review, scores))
  const wanted = answersWanted(queue)
  const isOpen = queue.reviewers.length === 0
  const done = isOpen ? new Set(complete.map(({ record }) => record)).size : complete.length
  const own = complete.filter(({ reviewer }) => reviewer === me).length
  return (
    <div class="review-progress">
      <span role="status">
        {mine.length > 0 && `You: ${number(own)} of ${number(mine.length)} · `}
        {isOpen ? 'All' : 'All reviewers'}: {number(Math.min(done, wanted))} of {number(wanted)}
      </span>
      <progress aria-label="Reviewed" max={Math.max(wanted, 1)} value={Math.min(done, wanted)} />
    </div>
  )
}
