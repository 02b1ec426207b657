/** What a retention would remove, carrying one out now, and how that goes. */
import { z } from 'zod'
import type { Entries } from '../../catalog/entry.ts'
import { retentionConfiguration } from '../../catalog/schema/automation.ts'
import { identifier, shortText, text, timestamp } from '../../catalog/schema/field.ts'
import { AssayError } from '../../error.ts'
import { operation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import { type DeletionParts, deletePerson } from '../retention/delete-person.ts'
import type { Retention } from '../retention/retention.ts'
import { type RetentionRule, ruleOf } from '../retention/rule.ts'
import type { Route } from '../route.ts'

const tag = 'retention'
const exampleTraces = 20

const previewed = z.object({
  object_type: shortText,
  object_id: identifier,
  object_name: z.string(),
  traces: z.int(),
  records: z.int(),
  bytes: z.number(),
  held_traces: z.int(),
  kept_traces: z.int(),
  is_all: z.boolean(),
  examples: z.array(z.object({ root_span_id: z.string(), newest: z.string(), records: z.int() })),
})

const removed = { traces: z.int(), records: z.int(), bytes: z.number() }

const shownRun = z.object({
  project_automation_id: identifier,
  status: z.enum(['running', 'queued', 'waiting', 'failed', 'paused']),
  /** Of the run that is under way. */
  progress: z
    .object({
      since: timestamp,
      step: z.enum(['selecting', 'deleting', 'freeing']),
      ...removed,
    })
    .nullable(),
  /** When a run has ended well, since the start of the service. */
  last_run: timestamp.nullable(),
  /** The last of these that removed something, or that somebody has asked for. */
  last: z
    .object({
      time: timestamp,
      seconds: z.number(),
      ...removed,
      held: z.int(),
      kept: z.int(),
      transactions: z.array(z.string()),
    })
    .nullable(),
  error: z.object({ message: z.string(), time: timestamp }).nullable(),
})

const deletedObject = z.object({
  object_type: shortText,
  object_id: identifier,
  records: z.int(),
  held: z.int(),
  transactions: z.array(z.string()),
})

const exportedCopies = z.object({
  automation_id: identifier,
  project_id: identifier,
  place: z.string(),
  files: z.array(z.string()),
  error: z.string().nullable(),
})

const certificateSchema = z.object({
  created: timestamp,
  org_id: identifier,
  project_id: identifier.nullable(),
  user_id_hashes: z.array(z.string()),
  filter_hash: z.string().nullable(),
  records: z.int(),
  held: z.int(),
  attachments: z.int(),
  objects: z.array(deletedObject),
  copies: z.object({
    exports: z.array(exportedCopies),
    last_backup: timestamp.nullable(),
  }),
  proof: z.object({ versions: z.int(), files: z.array(z.string()), bytes: z.number() }).nullable(),
  hash: z.string(),
})

export function retentionRoutes(retention: Retention, deletion: DeletionParts): Route[] {
  return [
    operation({
      method: 'POST',
      path: '/v1/delete_person',
      tag,
      summary: 'Deletes all that is stored of a person, in all versions, and certifies it',
      body: z.object({
        user_ids: z.array(z.string().min(1).max(1000)).max(100).optional(),
        filter: text.nullish(),
        project_id: identifier.nullish(),
        dry_run: z.boolean().optional(),
      }),
      answer: certificateSchema,
      handle: async ({ body }, gate) => {
        gate.requireOwner()
        const { user_ids = [], filter, project_id, dry_run = false } = body
        if (user_ids.length === 0 && !filter) {
          throw new AssayError('REQUEST_INVALID', 'nothing says which records are meant', {
            path: 'user_ids',
            hint: 'give ids of the person in "user_ids", or a condition in "filter"',
          })
        }
        if (project_id) gate.require('update', 'project', project_id)
        const { organizationId, userId, keyId } = gate.principal
        const request = {
          organizationId,
          projectId: project_id ?? undefined,
          userIds: user_ids,
          filter: filter ?? undefined,
          isDryRun: dry_run,
        }
        const actor = { userId, ...(keyId && { keyId }), organizationId }
        return jsonReply(await deletePerson(deletion, request, actor))
      },
    }),
    operation({
      method: 'POST',
      path: '/v1/retention/preview',
      tag,
      summary: 'Tells which traces a retention would remove now, how many, and how many bytes',
      body: z.object({ project_id: identifier, config: retentionConfiguration }),
      answer: z.object({
        traces: z.int(),
        records: z.int(),
        bytes: z.number(),
        objects: z.array(previewed),
      }),
      handle: async ({ body }, gate) => {
        const { project_id, config } = body
        gate.require('update', 'project', project_id)
        const objects = await retention.preview(project_id, requiredRule(config), exampleTraces)
        const total = { traces: 0, records: 0, bytes: 0 }
        for (const { traces, records, bytes } of objects) {
          total.traces += traces
          total.records += records
          total.bytes += bytes
        }
        return jsonReply({ ...total, objects })
      },
    }),
    operation({
      method: 'POST',
      path: '/v1/retention/run',
      tag,
      summary: 'Begins to carry out the retention of an automation, and tells how it goes',
      body: z.object({ project_automation_id: identifier }),
      answer: shownRun,
      handle: async ({ body }, gate) => {
        const automation = gate.require('update', 'project_automation', body.project_automation_id)
        const { status } = requiredRule(automation.config)
        if (status !== 'paused') retention.run(automation)
        return jsonReply(shown(retention, automation))
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/retention/:project_automation_id',
      tag,
      summary: 'Tells how runs of a retention go',
      answer: shownRun,
      handle: ({ ids }, gate) =>
        jsonReply(shown(retention, gate.require('read', 'project_automation', ids[0]!))),
    }),
  ]
}

function shown(
  retention: Retention,
  automation: Entries['project_automation'],
): z.infer<typeof shownRun> {
  const rule = requiredRule(automation.config)
  const { status, progress, lastRun, last, error } = retention.stateOf(automation)
  const isIdle = status === 'waiting' || status === 'failed'
  return {
    project_automation_id: automation.id,
    status: isIdle && rule.status === 'paused' ? 'paused' : status,
    progress: progress ? { ...progress, since: timeOf(progress.since) } : null,
    last_run: lastRun === undefined ? null : timeOf(lastRun),
    last: last ? { ...last, time: timeOf(last.time), transactions: [...last.transactions] } : null,
    error: error ? { ...error, time: timeOf(error.time) } : null,
  }
}

function timeOf(time: number): string {
  return new Date(time).toISOString()
}

function requiredRule(config: unknown): RetentionRule {
  const rule = ruleOf(config)
  if (rule) return rule
  throw new AssayError('REQUEST_INVALID', 'the automation is not a retention', {
    path: 'config.event_type',
    hint: 'give a configuration with the event_type "retention"',
  })
}
