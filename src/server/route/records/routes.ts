import type { Engine } from '../../../engine.ts'
import type { PublicUrl } from '../../public-url.ts'
import type { Route } from '../../route.ts'
import { fetchRoutes } from './fetch.ts'
import { restoreRoutes } from './restore.ts'
import { summarizeRoutes } from './summarize.ts'
import { feedbackRoute, insertAnywhereRoute } from './write.ts'

export interface RecordRouteOptions {
  readonly engine: Engine
  readonly publicUrl: PublicUrl
  readonly maxBodyBytes: number
}

const types = ['project_logs', 'experiment', 'dataset'] as const

/** What can be done with the records of an object beside queries and plain inserts. */
export function recordRoutes({ engine, publicUrl, maxBodyBytes }: RecordRouteOptions): Route[] {
  return [
    ...types.flatMap((type) => [...fetchRoutes(engine, type), feedbackRoute(engine, type)]),
    insertAnywhereRoute(engine),
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
