/** Queries that run now: one's own, and for who may change the organization, all of its. */
import { useEffect } from 'preact/hooks'
import { bytes, duration, number } from '../component/format.ts'
import { ListTable } from '../component/list-table.tsx'
import { tell, tellFailure } from '../component/toast.tsx'
import { When } from '../component/when.tsx'
import { useLoaded } from '../service/load.ts'
import { loadDirectory, nameOfUser } from '../service/people.ts'
import { cancelQuery, listRunning } from '../service/running-queries.ts'
import { SettingsList } from './settings-list.tsx'

const refreshMs = 2000

export function SettingsQueries() {
  const running = useLoaded('running queries', listRunning)
  const directory = useLoaded('directory', loadDirectory)
  const { isLoading, error, reload } = running
  useEffect(() => {
    if (isLoading || error) return
    const timer = window.setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, refreshMs)
    return () => window.clearInterval(timer)
  }, [isLoading, error])
  const cancel = async (id: string) => {
    try {
      await cancelQuery(id)
      tell('The query is cancelled')
    } catch (thrown) {
      tellFailure(thrown)
    }
    reload()
  }
  return (
    <SettingsList
      title="Running queries"
      hint="Refreshed every two seconds."
      loaded={running}
      empty="Nothing runs at the moment"
    >
      {(queries) => (
        <ListTable
          label="Running queries"
          items={queries}
          itemId={({ id }) => id}
          columns={[
            { title: 'Query', cell: ({ query }) => <code class="cut">{query}</code> },
            {
              title: 'Of',
              cell: ({ user_id }) =>
                nameOfUser(directory.data?.users.find(({ id }) => id === user_id)),
            },
            { title: 'Begun', cell: ({ started }) => <When at={started} /> },
            { title: 'State', cell: ({ state }) => state },
            {
              title: 'Rows read',
              isNumber: true,
              cell: ({ progress }) =>
                `${number(progress.rows_read)} of ${number(progress.rows_to_read)}`,
            },
            {
              title: 'Worked',
              isNumber: true,
              cell: ({ worker_ms }) => duration(worker_ms / 1000),
            },
            { title: 'Memory', isNumber: true, cell: ({ memory_bytes }) => bytes(memory_bytes) },
          ]}
          actions={({ id }) => (
            <button type="button" onClick={() => void cancel(id)}>
              Cancel
            </button>
          )}
        />
      )}
    </SettingsList>
  )
}
