/** The review queues of a project. */
import { useState } from 'preact/hooks'
import { Confirm } from '../component/dialog.tsx'
import { number } from '../component/format.ts'
import { Link } from '../component/link.tsx'
import { LineAction, ListTable } from '../component/list-table.tsx'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { tell } from '../component/toast.tsx'
import { When } from '../component/when.tsx'
import { useLoaded } from '../service/load.ts'
import { type Project, useProject } from '../service/project.ts'
import { deleteQueue, listQueues, type Queue, recordsFor } from '../service/review.ts'
import { useMay } from '../service/rights.ts'
import { session } from '../service/session.ts'
import { parts, pathOf } from '../state/location.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { ReviewDialog } from './review-dialog.tsx'
import { ReviewQueue } from './review-queue.tsx'

/** @param queueId undefined shows all queues */
export function Review({
  projectName,
  queueId,
}: {
  readonly projectName: string
  readonly queueId: string | undefined
}) {
  const project = useProject(projectName)
  const projectId = project.data?.id
  const queues = useLoaded(projectId && `queues ${projectId} ${queueId ?? ''}`, (signal) =>
    listQueues(projectId!, signal),
  )
  const error = project.error ?? queues.error
  if (error) {
    return <Failure error={error} retry={project.error ? project.reload : queues.reload} />
  }
  if (!project.data || !queues.data) return <Loading what="the review queues" />
  if (queueId === undefined) {
    return <QueueList project={project.data} queues={queues.data} onChange={queues.reload} />
  }
  const queue = queues.data.find(({ id }) => id === queueId)
  if (queue) return <ReviewQueue key={queue.id} project={project.data} queue={queue} />
  if (queues.isLoading) return <Loading what="the review queue" />
  return (
    <Empty sketch="records" title="There is no such review queue">
      <p>
        <Link to={pathOf(...parts.value.slice(0, 5))}>All review queues</Link>
      </p>
    </Empty>
  )
}

const places = { project_logs: 'Logs', experiment: 'Experiment', dataset: 'Dataset' } as const

function QueueList({
  project,
  queues,
  onChange,
}: {
  readonly project: Project
  readonly queues: readonly Queue[]
  readonly onChange: () => void
}) {
  const mayChange = useMay('project', project.id)('update')
  const [doomed, setDoomed] = useState<Queue>()
  const me = session.value?.user.id ?? ''
  const change = openedOf('change')
  const changed = queues.find(({ id }) => id === change?.id)
  return (
    <div class="reviews">
      <header class="page-head">
        <h1>Review</h1>
        {mayChange && (
          <button type="button" class="primary" onClick={() => openWindow('new')}>
            New queue
          </button>
        )}
      </header>
      {queues.length === 0 ? (
        <Empty title="No review queues yet" sketch="records">
          <p>
            A queue shows people one record after the other, and asks for the project’s scores.
            {mayChange
              ? ' Make one here, or select rows of logs or of an experiment and choose Review.'
              : ' Making one takes the right to change the project.'}
          </p>
        </Empty>
      ) : (
        <ListTable
          label="Review queues"
          items={queues}
          itemId={({ id }) => id}
          columns={[
            {
              title: 'Name',
              cell: ({ id, name }) => (
                <Link to={pathOf(...parts.value.slice(0, 5), id)}>{name}</Link>
              ),
            },
            { title: 'Records of', cell: ({ place }) => places[place.type] },
            { title: 'Records', isNumber: true, cell: ({ records }) => number(records.length) },
            {
              title: 'For you',
              isNumber: true,
              cell: (queue) => number(recordsFor(queue, me).length),
            },
            { title: 'Scores', cell: ({ scores }) => scores.join(', ') },
            {
              title: 'Created',
              cell: ({ created }) => <When at={created} />,
            },
          ]}
          actions={
            mayChange
              ? (queue) => (
                  <>
                    <LineAction
                      verb="Change"
                      of={queue.name}
                      onChoose={() => openWindow('change', queue.id)}
                    />
                    <LineAction verb="Delete" of={queue.name} onChoose={() => setDoomed(queue)} />
                  </>
                )
              : undefined
          }
        />
      )}
      {mayChange && openedOf('new') && (
        <ReviewDialog projectId={project.id} projectName={project.name} onClose={closeWindow} />
      )}
      {mayChange && changed && (
        <ReviewDialog
          projectId={project.id}
          projectName={project.name}
          queue={changed}
          onClose={closeWindow}
          onChange={onChange}
        />
      )}
      {doomed && (
        <Confirm
          title={`Delete “${doomed.name}”?`}
          verb="Delete"
          onClose={() => setDoomed(undefined)}
          onConfirm={async () => {
            await deleteQueue(project.id, doomed.id)
            tell(`Deleted “${doomed.name}”`)
            onChange()
          }}
        >
          <p>The answers stay in the records.</p>
        </Confirm>
      )}
    </div>
  )
}
