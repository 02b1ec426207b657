import type { Gate } from '../../access/gate.ts'
import type { Engine, QueryRequest } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import {
  booleanField,
  type JsonBody,
  numberField,
  parseJsonBody,
  stringField,
} from '../json-body.ts'
import { type QueryFormat, queryReply } from '../query-answer.ts'
import { jsonReply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'

/** `POST /btql` runs a query; `POST /btql/explain` shows its plan instead. */
export function btqlRoutes(engine: Engine): Route[] {
  return [
    {
      method: 'POST',
      path: '/btql',
      access: 'key',
      handle: async (request, gate) => {
        const body = parseJsonBody(await request.body)
        const format = formatOf(body)
        const query = queryOf(body, request, gate, format)
        return queryReply(await engine.query(query), format)
      },
    },
    {
      method: 'POST',
      path: '/btql/explain',
      access: 'key',
      handle: async (request, gate) => {
        const body = parseJsonBody(await request.body)
        return jsonReply({ plan: await engine.explain(queryOf(body, request, gate, 'json')) })
      },
    },
  ]
}

function queryOf(
  body: JsonBody,
  request: RouteRequest,
  view: Gate,
  format: QueryFormat,
): QueryRequest {
  const query = queryText(body)
  request.queryText = query
  const from = stringField(body, 'from')
  const tzOffset = numberField(body, 'tz_offset')
  const version = stringField(body, 'version')
  const useColumnstore = booleanField(body, 'use_columnstore')
  const auditLog = booleanField(body, 'audit_log')
  return {
    query,
    view,
    signal: request.signal,
    separator: format === 'jsonl' ? '\n' : ',\n',
    ...(from !== undefined && { from }),
    ...(tzOffset !== undefined && { tzOffset }),
    ...(version !== undefined && { version }),
    ...(useColumnstore !== undefined && { useColumnstore }),
    ...(auditLog !== undefined && { auditLog }),
  }
}

function queryText(body: JsonBody): string {
  const query = body.get('query')
  if (typeof query === 'string') return query
  if (typeof query === 'object' && !Array.isArray(query)) {
    throw new AssayError('REQUEST_INVALID', 'queries as syntax trees are not available yet', {
      path: 'query',
      hint: 'send the query as text',
    })
  }
  const problem = query === undefined ? 'is missing' : 'must be a string'
  throw new AssayError('REQUEST_INVALID', `"query" ${problem}`, {
    path: 'query',
    hint: 'send {"query": "select: * | from: experiment(\'<id>\') | limit: 10"}',
  })
}

function formatOf(body: JsonBody): QueryFormat {
  const format = stringField(body, 'fmt') ?? 'json'
  if (format === 'json' || format === 'jsonl') return format
  const problem = format === 'parquet' ? 'is not available yet' : 'is not a format'
  throw new AssayError('BIND_INVALID_OPTION', `fmt "${format.slice(0, 100)}" ${problem}`, {
    path: 'fmt',
    hint: 'use "json" or "jsonl"',
  })
}
