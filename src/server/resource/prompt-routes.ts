/** `/v1/prompt` and `/v1/function`. Functions are kept, with all their versions; none is run here. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import { fields, tags, text, version } from '../../catalog/schema/field.ts'
import {
  functionPatch,
  functionSchema,
  functionType,
  newFunction,
  newPrompt,
  promptPatch,
  promptSchema,
} from '../../catalog/schema/prompt.ts'
import { AssayError } from '../../error.ts'
import { operation } from '../operation.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route } from '../route.ts'
import { inProject, projectQuery, projectScope } from './in-project.ts'
import { isOwnOrganization, pageQuery } from './list-query.ts'
import { furtherOfRow, isFurtherPromptField, withFurther } from './prompt-further.ts'
import type { PromptKind, PromptRow, PromptStore } from './prompt-store.ts'
import { placedIn, putIsDeprecated, withoutNulls } from './resource.ts'

interface PromptForm {
  readonly kind: PromptKind
  readonly schema: z.ZodObject
  readonly creation: z.ZodObject
  readonly patch: z.ZodObject
}

const forms: readonly PromptForm[] = [
  { kind: 'prompt', schema: promptSchema, creation: newPrompt, patch: promptPatch },
  { kind: 'function', schema: functionSchema, creation: newFunction, patch: functionPatch },
]

const defaultLimit = 1000

/** Which state of a prompt: a version, or the one that an environment has. */
const stateQuery = {
  version: version.min(1).optional(),
  environment: z.string().min(1).optional(),
}

export function promptRoutes(prompts: PromptStore): Route[] {
  return [...forms.flatMap((form) => routesOf(prompts, form)), invokeRoute(prompts)]
}

function routesOf(prompts: PromptStore, form: PromptForm): Route[] {
  const { kind, schema } = form
  const path = `/v1/${kind}`
  const one = { path: `${path}/:${kind}_id`, tag: kind, answer: schema }
  return [
    createRoute(prompts, form, 'POST'),
    createRoute(prompts, form, 'PUT'),
    listRoute(prompts, form),
    operation({
      ...one,
      method: 'GET',
      summary: `Reads a ${kind}, or a former version of it`,
      query: z.object(stateQuery),
      handle: async ({ ids, query: { version, environment } }, gate) => {
        const id = ids[0]!
        const asked = environment === undefined ? version : requiredVersionIn(gate, environment, id)
        return answer(schema, await prompts.require(gate, 'read', kind, id, asked))
      },
    }),
    operation({
      ...one,
      method: 'PATCH',
      summary: `Changes fields of a ${kind}; objects are merged into those that are there`,
      body: form.patch,
      keeps: isFurtherPromptField,
      handle: async ({ ids, body, further }, gate) => {
        const patch = { ...withoutNulls(body), ...withFurther(further) }
        return answer(schema, await prompts.patch(gate, kind, ids[0]!, patch))
      },
    }),
    operation({
      ...one,
      method: 'DELETE',
      summary: `Removes a ${kind}; former versions can still be read`,
      handle: async ({ ids }, gate) => {
        const row = await prompts.remove(gate, kind, ids[0]!)
        return jsonReply({ ...shown(schema, row), _object_delete: true })
      },
    }),
  ]
}

function createRoute(prompts: PromptStore, form: PromptForm, method: 'POST' | 'PUT'): Route {
  const { kind, schema } = form
  const path = `/v1/${kind}`
  const replaces = method === 'PUT'
  return operation({
    method,
    path,
    tag: kind,
    summary: replaces
      ? `Makes a ${kind}, or a new version of the one that has the slug`
      : `Makes a ${kind}, or answers the one that has the slug as it is`,
    body: inProject(form.creation),
    answer: schema,
    isDeprecated: replaces,
    keeps: isFurtherPromptField,
    handle: async ({ body, further }, gate) => {
      const { project_id, ...fields } = placedIn(withoutNulls(body), gate)
      const projectId = String(project_id)
      const given = { ...fields, ...withFurther(further) }
      const { row } = await prompts.findOrWrite(gate, kind, projectId, given, replaces)
      return answer(schema, row, replaces ? putIsDeprecated(path) : {})
    },
  })
}

function listRoute(prompts: PromptStore, { kind, schema }: PromptForm): Route {
  const texts = z.array(z.string()).optional()
  return operation({
    method: 'GET',
    path: `/v1/${kind}`,
    tag: kind,
    summary: 'Lists what may be read, newest first',
    query: pageQuery.extend({
      [`${kind}_name`]: texts,
      name: texts,
      slug: texts,
      function_type: functionType.optional(),
      ...projectQuery,
      ...stateQuery,
    }),
    answer: z.object({ objects: z.array(schema) }),
    handle: async ({ query }, gate) => {
      const scope = projectScope(query, gate)
      const { limit = defaultLimit, slug, ids, id, starting_after, ending_before } = query
      if (!scope || !isOwnOrganization(gate, query) || limit === 0)
        return jsonReply({ objects: [] })
      const given: PromptRow = query
      const names = [given[`${kind}_name`], query.name].flat().filter((one) => one !== undefined)
      const wanted = ids || id ? [...(ids ?? []), ...(id ?? [])] : undefined
      const selection = {
        kind,
        projectId: scope.parentId,
        ids: wanted,
        slugs: slug,
        names: names.length > 0 ? names.map(String) : undefined,
        functionType: query.function_type,
      }
      const rows = await prompts.list(gate, selection, {
        limit,
        after: await placeOf(prompts, gate, kind, 'starting_after', starting_after),
        before: await placeOf(prompts, gate, kind, 'ending_before', ending_before),
        version: query.version,
      })
      const { environment } = query
      const states =
        environment === undefined
          ? rows
          : await inEnvironment(prompts, gate, kind, rows, environment)
      return jsonReply({ objects: states.map((row) => shown(schema, row)) })
    },
  })
}

async function placeOf(
  prompts: PromptStore,
  gate: Gate,
  kind: PromptKind,
  parameter: string,
  id: string | undefined,
): Promise<string | undefined> {
  if (id === undefined) return undefined
  const row = await prompts.find(gate, kind, id)
  if (row) return String(row._pagination_key)
  throw new AssayError('REQUEST_INVALID', `"${id}" is not in this list`, {
    path: parameter,
    hint: 'give the id of an object of the page before',
  })
}

/** The versions that an environment has of the rows; of which it has none are left out. */
async function inEnvironment(
  prompts: PromptStore,
  gate: Gate,
  kind: PromptKind,
  rows: readonly PromptRow[],
  environment: string,
): Promise<PromptRow[]> {
  const states = await Promise.all(
    rows.map(({ id }) => {
      const version = versionIn(gate, environment, String(id))
      return version === undefined ? undefined : prompts.find(gate, kind, String(id), version)
    }),
  )
  return states.filter((row) => row !== undefined)
}

function versionIn(gate: Gate, environment: string, id: string): string | undefined {
  return gate.named('environment_object', id, `prompt/${environment}`)?.object_version
}

function requiredVersionIn(gate: Gate, environment: string, id: string): string {
  const version = versionIn(gate, environment, id)
  if (version !== undefined) return version
  throw new AssayError('REQUEST_INVALID', 'the environment has no version of it', {
    path: 'environment',
  })
}

/** What a function is called with. It is read so that faults are told before that nothing is run. */
const invocation = z.looseObject({
  input: z.unknown().optional(),
  expected: z.unknown().optional(),
  metadata: fields.nullish(),
  tags: tags.nullish(),
  messages: z.array(z.looseObject({ role: z.string() })).nullish(),
  stream: z.boolean().nullish(),
  version: text.nullish(),
})

function invokeRoute(prompts: PromptStore): Route {
  return operation({
    method: 'POST',
    path: '/v1/function/:function_id/invoke',
    tag: 'function',
    summary: 'Answers 501: functions are kept here, not run',
    body: invocation,
    isNotDone: true,
    answer: z.unknown(),
    handle: async ({ ids }, gate) => {
      await prompts.require(gate, 'read', 'function', ids[0]!)
      throw new AssayError('REQUEST_UNSUPPORTED', 'This service keeps functions but runs none', {
        hint: 'read its function_data, and run it where it is to run',
      })
    },
  })
}

/** Answers for prompts have no further fields: old clients refuse keys that they do not know. */
function shown(schema: z.ZodObject, row: PromptRow): PromptRow {
  const functionData = row.function_data ?? { type: 'prompt' }
  const values: PromptRow = { ...row, function_data: functionData }
  const known = Object.keys(schema.shape).map((name) => [name, values[name] ?? null] as const)
  const further = schema === functionSchema ? furtherOfRow(row) : {}
  return Object.fromEntries([...Object.entries(further), ...known])
}

function answer(schema: z.ZodObject, row: PromptRow, headers: Record<string, string> = {}): Reply {
  return jsonReply(shown(schema, row), headers)
}
