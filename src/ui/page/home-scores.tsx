/** The scores that were given, and how they went. */
import { counted, score } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { Failure } from '../component/notice.tsx'
import { TimeBars } from '../component/time-bars.tsx'
import { loadScores } from '../service/project-home.ts'
import { Change } from './experiment-columns.tsx'
import { type Asked, useAsked } from './home-asked.ts'
import { sortExpression } from './log-columns.tsx'
import { logsAddress } from './logs-address.ts'

export function HomeScores(asked: Asked) {
  const { data, error, reload } = useAsked('scores', asked, loadScores)
  const { period } = asked
  if (error) return <Failure error={error} retry={reload} />
  if (data?.length === 0) return null
  return (
    <section class="home-part" aria-label="Scores">
      <h2>Scores</h2>
      {!data && <p class="hint room">…</p>}
      <div class="home-figures">
        {data?.map(({ name, count, mean, meanBefore, course }) => {
          const column = `scores.${name}`
          const rows = {
            text: `${sortExpression(column, 'spans')} is not null`,
            rowsAre: 'spans',
            sort: { column, isDescending: false },
          } as const
          return (
            <article class="figure" aria-label={name} key={name}>
              <h3>{name}</h3>
              <p class="value">
                <Link to={logsAddress({ ...rows, span: period })}>{score(mean)}</Link>
                {meanBefore !== undefined && <Change value={mean - meanBefore} />}
              </p>
              <p class="more">{counted(count, 'span')}, the worst first</p>
              <div class="plot-room">
                <TimeBars
                  label={`${name} over time`}
                  times={period.times}
                  unitSeconds={period.unitSeconds}
                  values={course}
                  names={['mean']}
                  format={score}
                  linkOf={(place) => {
                    const from = period.times[place]!
                    return logsAddress({ ...rows, span: { from, to: from + period.unitSeconds } })
                  }}
                />
              </div>
            </article>
          )
        })}
      </div>
    </section>
  )
}
