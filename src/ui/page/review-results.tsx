/** What all reviewers of a queue have said, and how far they agree. */
import { kappa, number, score as percent, points } from '../component/format.ts'
import { ListTable } from '../component/list-table.tsx'
import { Empty } from '../component/notice.tsx'
import { When } from '../component/when.tsx'
import {
  type CategoryAgreement,
  categoryAgreement,
  groupedBy,
  type SliderAgreement,
  sliderAgreement,
} from '../service/agreement.ts'
import { useLoaded } from '../service/load.ts'
import { listAll, nameOfUser, type User } from '../service/people.ts'
import {
  isComplete,
  type Review,
  type ReviewAnswer,
  type ReviewScore,
  type ReviewState,
} from '../service/review.ts'
import { session } from '../service/session.ts'
import { setParameters } from '../state/location.ts'
import { FoundPages, pageNumber } from './found-rows.tsx'

/** Records of a page, of which the answers are listed. */
const recordsPerPage = 100

export function ReviewResults({ state }: { readonly state: ReviewState }) {
  const { scores, reviews, queue } = state
  const { data: users = [] } = useLoaded('users', (signal) => listAll<User>('/v1/user', signal))
  if (reviews.length === 0) {
    return (
      <Empty title="No answers yet" sketch="records">
        <p>What reviewers answer is shown here, with how far they agree.</p>
      </Empty>
    )
  }
  const own = session.value?.user
  const nameOf = (id: string) =>
    nameOfUser(
      users.find((user) => user.id === id) ??
        (own?.id === id ? { ...own, created: null } : undefined),
    )
  const answered = groupedBy(reviews, ({ record }) => record)
  const page = pageNumber()
  const known = queue.records.filter((id) => answered.has(id))
  const listed = known.slice((page - 1) * recordsPerPage, page * recordsPerPage)
  return (
    <div class="review-results">
      <h2>Agreement</h2>
      <ListTable
        label="Agreement"
        items={scores}
        itemId={({ name }) => name}
        columns={agreementColumns(reviews)}
      />
      <h2>Reviewers</h2>
      <ListTable
        label="Reviewers"
        items={[...groupedBy(reviews, ({ reviewer }) => reviewer)]}
        itemId={([id]) => id}
        columns={[
          { title: 'Reviewer', cell: ([id]) => nameOf(id) },
          {
            title: 'Records',
            isNumber: true,
            cell: ([, some]) => number(some.filter((each) => isComplete(each, scores)).length),
          },
          { title: 'Last answer', cell: ([, some]) => <When at={latest(some)} /> },
        ]}
      />
      <h2>Answers</h2>
      <ListTable
        label="Answers"
        items={listed.flatMap((id) => answered.get(id) ?? [])}
        itemId={({ record, reviewer }) => `${record} ${reviewer}`}
        columns={[
          {
            title: 'Record',
            cell: ({ record }) => (
              <button
                type="button"
                class="plain link"
                onClick={() =>
                  setParameters(
                    { row: record, tab: undefined, page: undefined },
                    { replace: false },
                  )
                }
              >
                {number(queue.records.indexOf(record) + 1)}
              </button>
            ),
          },
          { title: 'Reviewer', cell: ({ reviewer }) => nameOf(reviewer) },
          ...scores.map((score) => ({
            title: score.name,
            cell: ({ answers }: Review) => answerText(answers[score.name]),
          })),
          { title: 'When', cell: ({ at }) => <When at={at.toISOString()} /> },
        ]}
      />
      {known.length > recordsPerPage && (
        <FoundPages
          shown={listed.length}
          total={known.length}
          what="answered record"
          size={recordsPerPage}
        />
      )}
    </div>
  )
}

function latest(reviews: readonly Review[]): string {
  return new Date(Math.max(...reviews.map(({ at }) => at.getTime()))).toISOString()
}

function answerText(answer: ReviewAnswer | undefined): string {
  if (answer === undefined) return '–'
  if (typeof answer === 'number') return percent(answer)
  return typeof answer === 'string' ? answer : answer.join(', ')
}

type Agreement = CategoryAgreement | SliderAgreement | undefined

function agreementOf({ name, form }: ReviewScore, reviews: readonly Review[]): Agreement {
  const ratings = reviews.flatMap(({ record, reviewer, answers }) => {
    const value = answers[name]
    return value === undefined ? [] : [{ record, reviewer, value }]
  })
  if (form === 'slider') {
    return sliderAgreement(
      ratings.flatMap((each) =>
        typeof each.value === 'number' ? [{ ...each, value: each.value }] : [],
      ),
    )
  }
  // Free text agrees with nothing.
  if (form === 'text') return undefined
  return categoryAgreement(
    ratings.map((each) => ({ ...each, value: [each.value].flat().map(String).sort().join(', ') })),
  )
}

function agreementColumns(reviews: readonly Review[]) {
  const of = (score: ReviewScore) => agreementOf(score, reviews)
  return [
    { title: 'Score', cell: ({ name }: ReviewScore) => name },
    {
      title: 'Reviewed twice or more',
      isNumber: true,
      cell: (score: ReviewScore) => number(of(score)?.records ?? 0),
    },
    {
      title: 'Agreement',
      isNumber: true,
      cell: (score: ReviewScore) => {
        const found = of(score)
        return found?.kind === 'category' ? percent(found.share) : '–'
      },
    },
    {
      title: 'Kappa',
      isNumber: true,
      cell: (score: ReviewScore) => {
        const found = of(score)
        if (found?.kind !== 'category') return '–'
        const name = found.reviewers === 2 ? 'Cohen’s' : 'Fleiss’'
        return found.kappa === undefined ? (
          <span title="All answers are the same: chance would agree as well">–</span>
        ) : (
          <span title={`${name} kappa: 1 is full agreement, 0 is chance`}>
            {kappa(found.kappa)}
          </span>
        )
      },
    },
    {
      title: 'Mean difference',
      isNumber: true,
      cell: (score: ReviewScore) => {
        const found = of(score)
        return found?.kind === 'slider' ? points(found.meanDifference) : '–'
      },
    },
  ]
}
