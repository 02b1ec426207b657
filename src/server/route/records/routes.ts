import type { Route } from '../../route.ts'
import { fetchRoutes } from './fetch.ts'
import { type Logs3Options, logs3Routes } from './logs3.ts'
import { restoreRoutes } from './restore.ts'
import { summarizeRoutes } from './summarize.ts'
import { feedbackRoute, insertAnywhereRoute } from './write.ts'

const types = ['project_logs', 'experiment', 'dataset'] as const

/** What can be done with the records of an object beside queries and plain inserts. */
export function recordRoutes(options: Logs3Options): Route[] {
  const { engine, writer, publicUrl, maxBodyBytes } = options
  return [
    ...logs3Routes(options),
    ...types.flatMap((type) => [...fetchRoutes(engine, type), feedbackRoute(writer, type)]),
    insertAnywhereRoute(writer),
    ...summarizeRoutes(engine, publicUrl),
    ...restoreRoutes(engine, maxBodyBytes),
    {
      method: 'GET',
      path: '/xact-id',
      access: 'key',
      handle: () => ({
        contentType: 'text/plain; charset=utf-8',
        body: engine.lastTransactionId(),
      }),
    },
  ]
}
