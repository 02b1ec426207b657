/** Masking of what is stored already: what rules would change, and the change itself. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import { serviceView } from '../../access/service-view.ts'
import type { CatalogObject } from '../../catalog/catalog.ts'
import { identifier } from '../../catalog/schema/field.ts'
import { newMaskingRule, ruleOf } from '../../catalog/schema/masking.ts'
import type { Engine } from '../../engine.ts'
import type { MaskingRule } from '../../masking/rule.ts'
import type { Purge } from '../../storage/maintenance/purge-plan.ts'
import type { FoundMasked } from '../../storage/prepare/find-masked.ts'
import type { ObjectType } from '../../type/record.ts'
import { parseTransaction } from '../../type/transaction.ts'
import { operation } from '../operation.ts'
import type { RecordInserter } from '../record-inserter.ts'
import { jsonReply } from '../reply.ts'
import { usualHoldTags } from '../retention/rule.ts'
import { heldRecords } from '../retention/select-traces.ts'
import type { Route } from '../route.ts'
import { requireRule } from './masking-routes.ts'

const mostRules = 100
const mostExamples = 20

const example = z.object({
  object_type: z.string(),
  object_id: z.string(),
  id: z.string(),
  path: z.string(),
  before: z.string(),
  after: z.string(),
})

const dryRunAnswer = z
  .object({
    rows: z.int(),
    changed_rows: z.int(),
    changed_values: z.int(),
    /** In the order of the rules that were given; empty when those that hold were tried. */
    values_by_rule: z.array(z.int()),
    examples: z.array(example),
  })
  .meta({ id: 'MaskingDryRun' })

const rewriteAnswer = z
  .object({
    rows: z.int(),
    rewritten_rows: z.int(),
    not_writable: z.array(identifier),
    /** Records whose old versions have left the disk, and those that a tag holds. */
    cleared_records: z.int(),
    held_records: z.int(),
  })
  .meta({ id: 'MaskingRewrite' })

const sources: { readonly [type in ObjectType]?: string } = {
  project_logs: 'project_logs',
  experiment: 'experiment',
  dataset: 'dataset',
  playground_logs: 'prompt_session',
}

export function storedMaskingRoutes(engine: Engine, inserter: RecordInserter): Route[] {
  return [
    operation({
      method: 'POST',
      path: '/v1/masking_rule/dry_run',
      tag: 'masking rule',
      summary: 'Tells what masking rules would change of the stored records of a project',
      body: z.object({
        project_id: identifier,
        /** In place of those that hold. */
        rules: z
          .array(newMaskingRule.omit({ name: true, project_id: true }))
          .min(1)
          .max(mostRules)
          .nullish(),
      }),
      answer: dryRunAnswer,
      handle: async ({ body, request }, gate) => {
        for (const rule of body.rules ?? []) requireRule(rule)
        const rules = body.rules?.map(ruleOf)
        return jsonReply(await dryRun(engine, gate, body.project_id, rules, request.signal))
      },
    }),
    operation({
      method: 'POST',
      path: '/v1/masking_rule/rewrite',
      tag: 'masking rule',
      summary: 'Masks the records of a project by the rules that hold',
      body: z.object({
        project_id: identifier,
        /** Takes from disk what records with a value to mask were before, for good. */
        remove_old_versions: z.boolean().nullish(),
      }),
      answer: rewriteAnswer,
      handle: async ({ body, request }, gate) => {
        const { project_id, remove_old_versions } = body
        const answer = await rewrite(engine, inserter, gate, project_id, request.signal)
        const cleared = remove_old_versions ? await clear(engine, gate, project_id) : noneCleared
        return jsonReply({ ...answer, ...cleared })
      },
    }),
  ]
}

function objectsOf(gate: Gate, projectId: string): readonly CatalogObject[] {
  gate.require('read', 'project', projectId)
  return gate.readableInProject(projectId) ?? []
}

async function dryRun(
  engine: Engine,
  gate: Gate,
  projectId: string,
  rules: readonly MaskingRule[] | undefined,
  signal: AbortSignal,
) {
  const byRule = (rules ?? []).map(() => 0)
  const examples: z.infer<typeof example>[] = []
  const sum = { rows: 0, changed_rows: 0, changed_values: 0 }
  for (const object of objectsOf(gate, projectId)) {
    for await (const found of foundIn(engine, gate, object, rules, signal)) {
      sum.rows += found.rows
      sum.changed_rows += found.changedRows
      sum.changed_values += found.values
      byRule.forEach((count, i) => {
        byRule[i] = count + found.byRule[i]!
      })
      const { type: object_type, id: object_id } = object
      for (const one of found.examples) {
        if (examples.length < mostExamples) examples.push({ object_type, object_id, ...one })
      }
    }
  }
  return { ...sum, values_by_rule: byRule, examples }
}

async function rewrite(
  engine: Engine,
  inserter: RecordInserter,
  gate: Gate,
  projectId: string,
  signal: AbortSignal,
) {
  const answer = { rows: 0, rewritten_rows: 0, not_writable: [] as string[] }
  for (const object of objectsOf(gate, projectId)) {
    const { type, id } = object
    if (!sources[type]) continue
    if (!gate.writable(type, id)) {
      answer.not_writable.push(id)
      continue
    }
    for await (const { rows, merges } of foundIn(engine, gate, object, undefined, signal)) {
      answer.rows += rows
      if (merges.length === 0) continue
      const body = Buffer.from(`{"events":[${merges.join()}]}`)
      await inserter.insert({ body, form: 'events', object: { type, id }, view: gate })
      answer.rewritten_rows += merges.length
    }
  }
  return answer
}

const noneCleared = { cleared_records: 0, held_records: 0 }
const recordsPerPurge = 1000

/** Old versions and deletions leave of each record one of whose versions has a value to mask. */
async function clear(engine: Engine, gate: Gate, projectId: string) {
  const answer = { ...noneCleared }
  for (const object of objectsOf(gate, projectId)) {
    const isWritable = sources[object.type] && gate.writable(object.type, object.id)
    const found = isWritable ? await engine.recordsToMask(object) : undefined
    if (!found || found.size === 0) continue
    const view = serviceView(engine.catalog, projectId)
    const rule = { hold_tags: [...usualHoldTags] }
    const held = new Set(await heldRecords({ engine, view, object, rule }))
    const ids = [...found].filter((id) => !held.has(id))
    answer.cleared_records += ids.length
    answer.held_records += found.size - ids.length
    if (ids.length === 0) continue
    const before = parseTransaction(engine.lastTransactionId()) + 1
    const purges: Purge[] = []
    for (let from = 0; from < ids.length; from += recordsPerPurge) {
      const some = ids.slice(from, from + recordsPerPurge)
      purges.push({ kind: 'superseded', object: object.number, before, ids: some })
    }
    await engine.purge(purges, async () => undefined)
  }
  return answer
}

/** What masking would change of the current rows of an object, some rows at a time. */
async function* foundIn(
  engine: Engine,
  gate: Gate,
  object: CatalogObject,
  rules: readonly MaskingRule[] | undefined,
  signal: AbortSignal,
): AsyncGenerator<FoundMasked> {
  const source = sources[object.type]
  if (!source) return
  const query = `select: * | from: ${source}('${object.id}')`
  const { rows } = await engine.query({ query, view: gate, signal, separator: ',\n' })
  for await (const { rowCount, bytes } of rows) {
    if (rowCount === 0) continue
    const body = Buffer.concat([Buffer.from('{"events":['), bytes, Buffer.from(']}')])
    const found = await engine.findMasked(body, object, rules, mostExamples)
    if (!found) return
    yield found
  }
}
