/** How many of the scans of the golden files run on a cluster as a whole. */
import { expect, test } from 'vitest'
import { levelOf, type ProofLevel } from '../../src/clickhouse/read/bounds.ts'
import { compilePredicates } from '../../src/clickhouse/read/compile-predicates.ts'
import { compileGroups, compileOrder } from '../../src/clickhouse/read/compile-stage.ts'
import type { CompileContext } from '../../src/clickhouse/read/compile-value.ts'
import { parseQuery } from '../../src/parser/parse.ts'
import type { PhysicalPlan } from '../../src/planner/physical-plan.ts'
import { clock, physicalQuery } from '../support/compiled-plan.ts'
import { readGoldenFiles } from '../support/golden-file.ts'

test('dump', () => {
  const plans = new Map<string, { plan: PhysicalPlan; text: string }>()
  let failed = 0
  for (const { blocks, name } of readGoldenFiles()) {
    for (const { kind, body } of blocks) {
      if (kind !== 'query' && kind !== 'explain') continue
      const text = body.join('\n')
      try {
        const { plan, semiJoinSets } = physicalQuery(text, () => 1)
        for (const one of [...semiJoinSets, plan]) {
          if (one.access.kind !== 'scan') continue
          const { output: _, stages: _s, ...rest } = one
          plans.set(JSON.stringify(rest, (_k, v) => typeof v === 'bigint' ? `${v}n` : v), { plan: one, text: `${name}: ${text}` })
        }
      } catch (e) {
        failed++
        if (process.env.SHOW === 'failed') console.log(text, String(e))
      }
    }
  }
  const levels: Record<string, number> = {}
  for (const { plan, text } of plans.values()) {
    const context: CompileContext = { ...clock, objects: plan.objects, traceSet: () => 'SELECT 1, 1' }
    const { level } = compilePredicates(plan.predicates, context)
    const isStage =
      plan.stage.kind === 'groups'
        ? compileGroups(plan.stage, context) !== undefined
        : plan.limit === undefined || compileOrder(plan.sort, context) !== undefined
    const isUnpivot = plan.unpivots.length > 0
    const history = plan.objects.some((o) => o.isHistory)
    const label = [level, history ? 'history' : '', isStage ? '' : plan.stage.kind === 'groups' ? (plan.stage.row ? 'row' : 'aggregates') : 'order', isUnpivot ? 'unpivot' : ''].join(' ').trim()
    levels[label] = (levels[label] ?? 0) + 1
    if (process.env.SHOW && label.startsWith(process.env.SHOW)) console.log(label, '|', text)
  }
  console.log(plans.size, 'failed', failed, levels)
})
