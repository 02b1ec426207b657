/** What a project opens with: what happened lately, each figure a link to what it counts. */
import { useEffect, useState } from 'preact/hooks'
import { time } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { Select } from '../component/select.tsx'
import {
  momentOf,
  type Period,
  type PeriodId,
  periodLengths,
  periodOf,
} from '../service/home-period.ts'
import { useLoaded } from '../service/load.ts'
import { useProject } from '../service/project.ts'
import { loadLast, loadTotals, loadUsages } from '../service/project-home.ts'
import { addressWith, parameter, setParameters } from '../state/location.ts'
import { FirstLines } from './first-lines.tsx'
import { useAsked } from './home-asked.ts'
import { HomeAttention } from './home-attention.tsx'
import { HomeExperiments } from './home-experiments.tsx'
import { HomeFigures } from './home-figures.tsx'
import { HomeModels } from './home-models.tsx'
import { HomeScores } from './home-scores.tsx'

export function Home({ projectName }: { readonly projectName: string }) {
  const project = useProject(projectName)
  if (project.error) return <Failure error={project.error} retry={project.reload} />
  if (!project.data) return <Loading what={projectName} />
  const { id, name } = project.data
  return <Sections projectId={id} projectName={name} />
}

/** How often a project without logs is looked at again. */
const waitMs = 3000

function Sections({
  projectId,
  projectName,
}: {
  readonly projectId: string
  readonly projectName: string
}) {
  const source = `project_logs('${projectId}')`
  const id = lengthOf(parameter('time'))
  const until = parameter('until')
  const [round, setRound] = useState(0)
  const period = usePeriod(id, until, round)
  const asked = { source, period, round }
  const totals = useAsked('totals', asked, loadTotals)
  const usages = useAsked('usages', asked, loadUsages)
  const isQuiet = totals.data !== undefined && totals.data.now.spans === 0
  const last = useLoaded(isQuiet ? `last ${source} ${round}` : undefined, (signal) =>
    loadLast(source, signal).then((at) => ({ at })),
  )
  const isEmpty = isQuiet && last.data !== undefined && last.data.at === undefined
  const isUnknown = isQuiet && last.data === undefined && !last.error
  // Below what changes its height once it is known whether there is something to show.
  const isPlaced = totals.error !== undefined || (totals.data !== undefined && !isUnknown)
  useEffect(() => {
    if (!isEmpty) return
    const timer = window.setTimeout(() => setRound(round + 1), waitMs)
    return () => window.clearTimeout(timer)
  }, [isEmpty, round])
  if (isEmpty || (isUnknown && round > 0)) {
    return (
      <div class="home">
        <h1 class="unseen">Home</h1>
        <FirstLines projectName={projectName} />
        <HomeExperiments projectId={projectId} round={0} isSilent />
      </div>
    )
  }
  return (
    <div class="home">
      <header class="page-head">
        <h1>Home</h1>
        <div class="tools">
          <LengthChoice id={id} />
          <button type="button" onClick={() => setRound(round + 1)}>
            Refresh
          </button>
        </div>
      </header>
      {until !== undefined && (
        <p class="hint">
          Until {time(until)}. <Link to={addressWith({ until: undefined })}>Until now</Link>
        </p>
      )}
      {isQuiet && !isUnknown ? (
        <Quiet id={id} last={last.data?.at} />
      ) : (
        <>
          <HomeFigures {...asked} totals={totals} usages={usages} />
          <HomeAttention {...asked} />
          <HomeModels {...asked} usages={usages} />
          <HomeScores {...asked} />
        </>
      )}
      {isPlaced && <HomeExperiments projectId={projectId} round={round} />}
    </div>
  )
}

/** Stays the same until it is asked for anew. */
function usePeriod(id: PeriodId, until: string | undefined, round: number): Period {
  const make = () => {
    const end = until === undefined ? Number.NaN : Date.parse(until)
    return periodOf(id, (Number.isNaN(end) ? Date.now() : end) / 1000)
  }
  const asked = `${id} ${until} ${round}`
  const [kept, keep] = useState(() => ({ asked, period: make() }))
  if (kept.asked === asked) return kept.period
  const period = make()
  keep({ asked, period })
  return period
}

function lengthOf(text: string | undefined): PeriodId {
  return periodLengths.find(({ id }) => id === text)?.id ?? '1d'
}

function LengthChoice({ id }: { readonly id: PeriodId }) {
  return (
    <Select
      label="Time"
      value={id}
      options={periodLengths.map((each) => ({ value: each.id, label: `Past ${each.title}` }))}
      onChange={(value) =>
        setParameters({ time: value === '1d' ? undefined : value }, { replace: false })
      }
    />
  )
}

/** There are logs, and none in the period. */
function Quiet({ id, last }: { readonly id: PeriodId; readonly last: string | undefined }) {
  const length = periodLengths.find((each) => each.id === id)!
  const passed = last === undefined ? undefined : (Date.now() - Date.parse(last)) / 1000
  const longer =
    passed === undefined ? undefined : periodLengths.find(({ seconds }) => seconds > passed)
  return (
    <Empty title={`Nothing was logged in the past ${length.title}`}>
      {last !== undefined && <p>The last span was logged on {time(last)}.</p>}
      <p class="tools">
        {longer !== undefined && longer.id !== id && (
          <Link to={addressWith({ time: longer.id, until: undefined })} class="button">
            Past {longer.title}
          </Link>
        )}
        {last !== undefined && (
          <Link
            to={addressWith({ until: momentOf(Math.ceil(Date.parse(last) / 1000)) })}
            class="button"
          >
            The {length.title} up to then
          </Link>
        )}
      </p>
    </Empty>
  )
}
