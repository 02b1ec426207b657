import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import type { HomeStatus } from '../nodes/home-status.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import { version } from '../version.ts'

export interface StatusOptions {
  /** Whether a query would be answered now. */
  readonly ready: () => boolean
  readonly maxBodyBytes: number
  /** Of a query node. */
  readonly home?: { readonly status: HomeStatus } | undefined
}

/** The routes that need no key: health, version, greeting. */
export function statusRoutes({ reserve }: Engine, options: StatusOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      access: 'open',
      handle: () => {
        if (!options.ready()) throw new AssayError('STORAGE_UNAVAILABLE', 'not ready for queries')
        return jsonReply({
          status: 'ok',
          ...(reserve.isReached && { writes: 'no room' }),
          ...(options.home && { home: shownHealth(options.home.status) }),
        })
      },
    },
    {
      method: 'GET',
      path: '/version',
      access: 'open',
      handle: () => jsonReply({ version, logs3_payload_max_bytes: options.maxBodyBytes }),
    },
    {
      method: 'GET',
      path: '/v1',
      access: 'open',
      handle: () => ({ contentType: 'text/plain; charset=utf-8', body: 'Hello, World!' }),
    },
  ]
}

/** Of the home, what everybody may know. */
function shownHealth({ isConnected, isCaughtUp, ageMs }: HomeStatus) {
  return {
    connected: isConnected,
    caught_up: isCaughtUp,
    age_seconds: Math.round(ageMs / 100) / 10,
  }
}
