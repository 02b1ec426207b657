import { inProject } from '../../binder/current-project.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { parseRequest } from '../../parser/parse-request.ts'
import { printQuery, printSource } from '../../parser/print-query.ts'
import { Highlighter } from '../../search/looked-for.ts'
import { readJsonBody } from '../ignored-fields.ts'
import {
  booleanField,
  type JsonBody,
  numberField,
  requiredString,
  stringField,
} from '../json-body.ts'
import type { LanguageModels } from '../language-model.ts'
import { queryReply } from '../query-answer.ts'
import { projectOf } from '../query-body.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import { interpret } from '../search.ts'
import type { Vocabularies } from '../vocabularies.ts'

/** Longer texts are no searches. */
const longestText = 10_000

/** Rows of a page, unless the search says how many. */
const pageRows = 100

/** `POST /search`: a person's words over a source, what they were taken for, and the first page. */
export function searchRoutes(
  engine: Engine,
  vocabularies: Vocabularies,
  models: LanguageModels,
): Route[] {
  return [
    {
      method: 'POST',
      path: '/search',
      access: 'key',
      handle: async (request, gate) => {
        const body = await readJsonBody(request)
        const text = requiredString(body, 'text')
        if (text.length > longestText) {
          throw new AssayError('REQUEST_INVALID', `"text" has ${text.length} characters`, {
            path: 'text',
            hint: `give at most ${longestText}; run a longer query with /btql`,
          })
        }
        const from = placedSource(requiredString(body, 'source'), projectOf(body))
        const tzOffset = numberField(body, 'tz_offset') ?? 0
        const cursor = stringField(body, 'cursor')
        const isRun = booleanField(body, 'run') ?? true
        const usesModel = booleanField(body, 'language_model') ?? true
        const takesQueries = booleanField(body, 'query_language') ?? true
        const { signal } = request
        const order = orderOf(body)
        const search = { text, from, tzOffset, takesQueries, order, view: gate, signal }
        const usedModel = usesModel ? models.of(gate) : undefined
        const interpretation = await interpret(engine, vocabularies, search, usedModel)
        if (!isRun) return jsonReply(interpretation)
        const previewLength = numberField(body, 'preview_length')
        const query = pageOf(interpretation.query, cursor, previewLength)
        request.queryText = query
        const result = await engine.query({ query, tzOffset, view: gate, signal })
        const marks = booleanField(body, 'highlights') ?? false
        return queryReply(result, {
          format: 'json',
          warnings: [],
          showsWarnings: true,
          further: { ...interpretation },
          highlighter: marks ? new Highlighter(interpretation.looked_for) : undefined,
        })
      },
    },
  ]
}

/** The source with the project of the request, where it names none itself. */
function placedSource(source: string, project: string | undefined): string {
  const given = parseRequest('select: *', source)
  const { from } = inProject(given, project)
  return from === undefined || from === given.from ? source : printSource(from)
}

function orderOf(body: JsonBody): 'newest' | 'relevance' {
  const order = stringField(body, 'order') ?? 'newest'
  if (order === 'newest' || order === 'relevance') return order
  throw new AssayError('REQUEST_INVALID', `"order" is ${JSON.stringify(order)}`, {
    path: 'order',
    hint: 'give "newest" or "relevance"',
  })
}

/** Rows come by the page; groups all together, as they are few. */
function pageOf(
  text: string,
  cursor: string | undefined,
  previewLength: number | undefined,
): string {
  const query = parseRequest(text, undefined)
  const isOfRows = query.select !== undefined && query.dimensions === undefined
  const { span } = query
  return printQuery({
    ...query,
    ...(isOfRows && !query.limit && { limit: { value: pageRows, span } }),
    ...(isOfRows &&
      !query.previewLength &&
      previewLength !== undefined && {
        previewLength: { value: previewLength, span },
      }),
    ...(cursor !== undefined && { cursor: { value: cursor, span } }),
  })
}
