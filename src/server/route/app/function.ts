/** How clients publish functions, and how they upload the code of one. Nothing of it is run here. */

import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Gate } from '../../../access/gate.ts'
import type { Attachments } from '../../../attachment/attachments.ts'
import { contentName } from '../../../attachment/content-store.ts'
import { newFunction } from '../../../catalog/schema/prompt.ts'
import { AssayError } from '../../../error.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { addressHeaders, type PublicUrl } from '../../public-url.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import { safeParse } from '../../request-check.ts'
import { isFurtherPromptField, withFurther } from '../../resource/prompt-further.ts'
import type { PromptRow, PromptStore } from '../../resource/prompt-store.ts'
import { withoutNulls } from '../../resource/resource.ts'
import type { Route, RouteRequest } from '../../route.ts'
import { checkOrganization } from './request.ts'

export interface FunctionRouteOptions {
  readonly prompts: PromptStore
  readonly attachments: Attachments
  readonly publicUrl: PublicUrl
}

/** Clients send further keys, which say where the function came from. They are kept. */
const published = z.looseObject({
  ...newFunction.shape,
  if_exists: z.enum(['error', 'ignore', 'replace']).nullish(),
  environments: z.array(z.object({ slug: z.string().min(1) })).nullish(),
})

type Published = z.infer<typeof published>

export function appFunctionRoutes(options: FunctionRouteOptions): Route[] {
  const { prompts, attachments, publicUrl } = options
  return [
    {
      method: 'POST',
      path: '/insert-functions',
      access: 'key',
      handle: (request, gate) => publish(prompts, request, gate),
    },
    {
      method: 'POST',
      path: '/function/code',
      access: 'key',
      headers: addressHeaders,
      handle: async (request, gate) => {
        checkOrganization(await readJsonBody(request), gate)
        const bundleId = randomUUID()
        const { organizationId } = gate.principal
        const place = { organizationId, kind: 'bundle', key: bundleId } as const
        const filename = `${bundleId}.js`
        await attachments.store.announce(place, { filename, contentType: 'text/javascript' })
        const path = attachments.signer.sign('put', contentName(place), gate.principal)
        return jsonReply({ url: publicUrl(request.headers) + path, bundleId })
      },
    },
  ]
}

/** All are checked before the first is written. */
async function publish(prompts: PromptStore, request: RouteRequest, gate: Gate): Promise<Reply> {
  const { functions } = readBody(await readJsonBody(request))
  for (const [index, { project_id, slug, if_exists }] of functions.entries()) {
    prompts.requireCreate(gate, project_id)
    if ((if_exists ?? 'error') !== 'error') continue
    const selection = { kind: 'function', projectId: project_id, slugs: [slug] } as const
    if ((await prompts.list(gate, selection, { limit: 1 })).length === 0) continue
    throw new AssayError('REQUEST_CONFLICT', `There is a prompt or function "${slug}" already`, {
      path: `functions[${index}].slug`,
      hint: 'choose another slug, or send "if_exists": "replace" or "ignore"',
    })
  }
  const answers: PromptRow[] = []
  let ignored = 0
  for (const { if_exists, environments, project_id, ...given } of functions) {
    const replaces = if_exists === 'replace'
    const fields = fieldsOf(withoutNulls(given))
    const { row, found } = await prompts.findOrWrite(gate, 'function', project_id, fields, replaces)
    if (found && !replaces) ignored++
    else await assign(gate, row, environments ?? [])
    const { id, slug, _xact_id } = row
    answers.push({ id, project_id, slug, _xact_id, found_existing: found })
  }
  return jsonReply({ functions: answers, ignored_count: ignored })
}

/** The fields of a row, with what is not known here in one of them. */
function fieldsOf(given: PromptRow): PromptRow {
  const entries = Object.entries(given)
  const further = entries.filter(([name]) => isFurtherPromptField(name))
  const known = entries.filter(([name]) => Object.hasOwn(newFunction.shape, name))
  return { ...Object.fromEntries(known), ...withFurther(Object.fromEntries(further)) }
}

function readBody(body: ReadonlyMap<string, unknown>): { functions: Published[] } {
  const read = safeParse(z.object({ functions: z.array(published) }), Object.fromEntries(body))
  if (read.success) return read.data
  const [issue] = read.error.issues
  const path = (issue?.path ?? []).reduce<string>((place, step) => {
    if (typeof step === 'number') return `${place}[${step}]`
    return place === '' ? String(step) : `${place}.${String(step)}`
  }, '')
  throw new AssayError('REQUEST_INVALID', `${path} is wrong: ${issue?.message}`, { path })
}

/** Gives environments the version that was just written. */
async function assign(
  gate: Gate,
  { id, _xact_id }: PromptRow,
  environments: readonly { readonly slug: string }[],
): Promise<void> {
  for (const { slug } of environments) {
    const version = String(_xact_id)
    const { entry, found } = await gate.findOrCreate('environment_object', {
      object_type: 'prompt',
      object_id: String(id),
      environment_slug: slug,
      object_version: version,
    })
    if (found) await gate.update('environment_object', entry.id, { object_version: version })
  }
}
