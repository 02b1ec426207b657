/** How scheduled exports are, running one now, and having it write again what it has written. */
import { z } from 'zod'
import { actorOf } from '../../access/principal.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Entries } from '../../catalog/entry.ts'
import { identifier, timestamp, version } from '../../catalog/schema/field.ts'
import { formatTransaction, parseTransaction } from '../../type/transaction.ts'
import type { ScheduledExports } from '../export/scheduled-exports.ts'
import { operation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'

const tag = 'scheduled export'

const amounts = { files: z.int(), rows: z.int(), bytes: z.number() }

const shownState = z.object({
  project_automation_id: identifier,
  status: z.enum(['running', 'queued', 'waiting', 'failed', 'paused', 'off']),
  /** What the run that is under way has written so far. */
  progress: z.object({ since: timestamp, ...amounts }).nullable(),
  /** All that transactions up to this one have written is in files. */
  through: z.string().nullable(),
  last_run: timestamp.nullable(),
  last_good_run: timestamp.nullable(),
  next_run: timestamp.nullable(),
  ...amounts,
  /** The last run that has written files, or that somebody has asked for. */
  last: z.object({ time: timestamp, ...amounts, seconds: z.number() }).nullable(),
  error: z.object({ message: z.string(), since: timestamp, tries: z.int() }).nullable(),
})

const named = { project_automation_id: identifier }

export function scheduledExportRoutes(exports: ScheduledExports, catalog: Catalog): Route[] {
  return [
    operation({
      method: 'GET',
      path: '/v1/export/:project_automation_id',
      tag,
      summary: 'Tells how far a scheduled export has come, and what keeps it from going on',
      answer: shownState,
      handle: ({ ids }, gate) =>
        jsonReply(shown(exports, gate.require('read', 'project_automation', ids[0]!))),
    }),
    operation({
      method: 'POST',
      path: '/v1/export/run',
      tag,
      summary: 'Begins to write what there is to write, and tells how that goes',
      body: z.object(named),
      answer: shownState,
      handle: async ({ body }, gate) => {
        const automation = gate.require('update', 'project_automation', body.project_automation_id)
        await exports.run(automation)
        return jsonReply(shown(exports, automation))
      },
    }),
    operation({
      method: 'POST',
      path: '/v1/export/rewind',
      tag,
      summary:
        'Removes the files with what was written after a version or a time, and has it written again',
      body: z.object({
        ...named,
        /** An `_xact_id`; of both the earlier one counts, and without both everything is written again. */
        version: version.nullish(),
        time: timestamp.nullish(),
      }),
      answer: z.object({ project_automation_id: identifier, to: z.string() }),
      handle: async ({ body }, gate) => {
        const automation = gate.require('update', 'project_automation', body.project_automation_id)
        const to = rewoundTo(body)
        await exports.rewind(automation, to)
        const { id } = automation
        const rewound = { rewound: { to: formatTransaction(to) } }
        await catalog.noteInTrail('project_automation', id, rewound, actorOf(gate.principal))
        return jsonReply({ project_automation_id: id, to: formatTransaction(to) })
      },
    }),
  ]
}

function shown(
  exports: ScheduledExports,
  automation: Entries['project_automation'],
): z.infer<typeof shownState> {
  const { status, progress, state, nextRun } = exports.shown(automation)
  const { files, rows, bytes, last, error } = state
  return {
    project_automation_id: automation.id,
    status,
    progress: progress ? { ...progress, since: new Date(progress.since).toISOString() } : null,
    through: shownThrough(state.through),
    last_run: timeOf(state.lastRun),
    last_good_run: timeOf(state.lastGood),
    next_run: timeOf(nextRun),
    files,
    rows,
    bytes,
    last: last && { ...last, time: new Date(last.time).toISOString() },
    error: error && { ...error, since: new Date(error.since).toISOString() },
  }
}

interface Rewind {
  readonly version?: string | null | undefined
  readonly time?: string | null | undefined
}

/** Of both the earlier one. */
function rewoundTo({ version, time }: Rewind): number {
  const moments: number[] = []
  if (version != null) moments.push(parseTransaction(version))
  // What was written within that second is written again, too.
  if (time != null) moments.push(Math.max(0, Math.floor(Date.parse(time) / 1000) * 0x10000 - 1))
  return moments.length === 0 ? 0 : Math.min(...moments)
}

function timeOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

function shownThrough(through: number | undefined): string | null {
  return through ? formatTransaction(through) : null
}
