import type { Access } from '../../access/access.ts'
import { requireOperator } from '../../access/operator.ts'
import type { BackupState } from '../../backup/backup-state.ts'
import type { Engine } from '../../engine.ts'
import { feedLines, positionOf } from '../nodes/feed.ts'
import type { Route } from '../route.ts'

export interface NodeRouteParts {
  readonly engine: Engine
  readonly access: Access
  readonly backups: BackupState
  readonly ready: () => boolean
}

/** `GET /admin/nodes/feed`: see `feedLines`. It is for who owns every organization, as long as that is so. */
export function nodeRoutes({ engine, access, backups, ready }: NodeRouteParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/nodes/feed',
      access: 'key',
      handle: (request, gate) => {
        requireOperator(access, gate.principal)
        request.keepChecking(() => requireOperator(access, request.gateNow().principal))
        const { source } = backups
        const isKnown = request.query.get('source') === source
        const position = positionOf(request.query.get('position'))
        return {
          contentType: 'application/jsonl',
          headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
          isCompressible: false,
          body: feedLines({
            engine,
            catalog: engine.catalog,
            source,
            position: isKnown ? position : undefined,
            signal: request.signal,
            isOpen: ready,
          }),
        }
      },
    },
  ]
}
