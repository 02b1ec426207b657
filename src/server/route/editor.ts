import type { Engine } from '../../engine.ts'
import { AssayError, toAssayError } from '../../error.ts'
import { faultText, type GivenQuery } from '../../parser/given-query.ts'
import { parseRequest } from '../../parser/parse-request.ts'
import { printQuery } from '../../parser/print-query.ts'
import { printSqlQuery } from '../../parser/print-sql.ts'
import type { QueryWarning } from '../../planner/lint.ts'
import { type CompletionRequest, complete } from '../completion.ts'
import { faultOf } from '../error-response.ts'
import { readJsonBody } from '../ignored-fields.ts'
import { type JsonBody, numberField, requiredString, stringField } from '../json-body.ts'
import { projectOf, readQueryBody } from '../query-body.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import type { Vocabularies } from '../vocabularies.ts'

/** What editors ask while a query is written. Nothing of it runs the query. */
export function editorRoutes(engine: Engine, vocabularies: Vocabularies): Route[] {
  return [
    {
      method: 'POST',
      path: '/btql/complete',
      access: 'key',
      handle: async (request, gate) => {
        const body = await readJsonBody(request)
        return jsonReply(await complete(engine, vocabularies, gate, completionOf(body)))
      },
    },
    {
      method: 'POST',
      path: '/btql/check',
      access: 'key',
      handle: async (request, gate) => {
        const body = await readQueryBody(request, gate)
        const { query, from } = body.request
        const { error, warnings } = await check(engine, { ...body.request, strictLint: false })
        const faults = error ? [error, ...error.others] : []
        return jsonReply({
          diagnostics: [
            ...faults.map((fault) => ({ severity: 'error', ...faultOf(fault, faultText(query)) })),
            ...(body.showsWarnings ? [...body.warnings, ...warnings] : []),
          ],
          canonical: canonicalOf(query, from),
        })
      },
    },
  ]
}

/** The cursor is at the end of the text unless it is said where. */
function completionOf(body: JsonBody): CompletionRequest {
  const query = requiredString(body, 'query')
  const position = numberField(body, 'position') ?? query.length
  if (!Number.isInteger(position) || position < 0 || position > query.length) {
    throw new AssayError('REQUEST_INVALID', `"position" ${position} is not in the query`, {
      path: 'position',
      hint: `give an offset from 0 to ${query.length}, in UTF-16 units`,
    })
  }
  const from = stringField(body, 'from')
  const project = projectOf(body)
  return {
    query,
    position,
    ...(from !== undefined && { from }),
    ...(project !== undefined && { project }),
  }
}

interface Checked {
  readonly error?: AssayError
  readonly warnings: readonly QueryWarning[]
}

/** Plans the query; its rows, which nobody asks for, are never read. */
async function check(engine: Engine, request: Parameters<Engine['query']>[0]): Promise<Checked> {
  try {
    return await engine.query(request)
  } catch (thrown) {
    const error = toAssayError(thrown)
    if (error.family !== 'user') throw error
    return { error, warnings: [] }
  }
}

/** The query in both languages; null while it cannot be read. */
function canonicalOf(given: GivenQuery, from: string | undefined) {
  try {
    const query = parseRequest(given, from)
    return { btql: printQuery(query), sql: printSqlQuery(query) }
  } catch (thrown) {
    const error = toAssayError(thrown)
    if (error.family !== 'user') throw error
    return null
  }
}
