import { ignoredFieldsHeader } from './ignored-fields.ts'
import { ageHeader, positionHeader, transactionHeader } from './nodes/seen.ts'
import type { Reply } from './reply.ts'

/**
 * Keys travel in headers that only scripts set, so any origin may ask; the cookie of a session is not
 * sent for other origins.
 */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'x-bt-cursor, x-bt-found-existing, x-bt-internal-trace-id, x-bt-api-duration-ms, ' +
    'x-bt-brainstore-duration-ms, x-bt-query-plan, x-request-id, retry-after, ' +
    `${transactionHeader}, ${positionHeader}, ${ageHeader}, ${ignoredFieldsHeader}`,
}

/** The answer to a browser that asks what it may send to a path. */
export function preflightReply(methods: readonly string[], askedHeaders: string): Reply {
  return {
    status: 200,
    headers: {
      allow: ['OPTIONS', ...methods].join(', '),
      'access-control-allow-methods': [...methods, 'OPTIONS'].join(', '),
      'access-control-allow-headers':
        askedHeaders === '' ? 'authorization, content-type' : askedHeaders,
      'access-control-max-age': '86400',
    },
    body: '',
  }
}
