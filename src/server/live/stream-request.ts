import type { Gate } from '../../access/gate.ts'
import { AssayError } from '../../error.ts'
import type { OutputFormat } from '../../format/output-format.ts'
import type { GivenQuery } from '../../parser/given-query.ts'
import { booleanField, type JsonBody, stringField } from '../json-body.ts'
import { type QueryBody, queryBody } from '../query-body.ts'

/** A query as `POST /btql` takes it, and how its answer is to come. */
export interface StreamRequest extends QueryBody {
  /** Whether it stays open, and tells of what is written later. */
  readonly isLive: boolean
  /** What is left out is known up to this version: a live query goes on from there. */
  readonly since: string | undefined
  /** Whether it tells how far it has come. */
  readonly showsProgress: boolean
}

const further = new Set(['type', 'id', 'live', 'since', 'progress'])

/** Throws the first fault of the body; the query's own faults are found later. */
export function streamRequest(
  body: JsonBody,
  query: GivenQuery,
  gate: Gate,
  formats: readonly OutputFormat[],
): StreamRequest {
  const isLive = booleanField(body, 'live') === true
  const since = stringField(body, 'since')
  const showsProgress = booleanField(body, 'progress') !== false
  const asked = queryBody(body, query, gate, { known: further })
  if (!formats.includes(asked.format)) {
    throw new AssayError('REQUEST_INVALID', `"${asked.format}" is not a format of streams here`, {
      path: 'fmt',
      hint: `use ${formats.join(' or ')}, or POST /btql`,
    })
  }
  if (since !== undefined && !isLive) {
    throw new AssayError('REQUEST_INVALID', '"since" is for live queries', {
      path: 'since',
      hint: 'add "live": true',
    })
  }
  if (isLive && asked.request.version !== undefined) {
    throw new AssayError('REQUEST_INVALID', 'a version never changes, so nothing is live in it', {
      path: 'version',
      hint: 'leave out "version" or "live"',
    })
  }
  return { ...asked, isLive, since, showsProgress }
}
