/**
 * How much of the scans of the golden files a cluster runs: what it decides and makes as a whole, what it filters for Assay to
 * aggregate or sort, and what it only narrows.
 */
import { expect, test } from 'vitest'
import { compileGroupScan, compileScan } from '../../src/clickhouse/read/compile-scan.ts'
import { toAssayError } from '../../src/error.ts'
import type { PhysicalPlan, PhysicalQuery } from '../../src/planner/physical-plan.ts'
import { clock, physicalQuery } from '../support/compiled-plan.ts'
import { readGoldenFiles } from '../support/golden-file.ts'

/** What runs as a whole is at least this share of all scans. */
const leastShare = 0.86

type Share = 'exact' | 'exact filter' | 'superset' | 'none'

interface GoldenScan {
  readonly plan: PhysicalPlan
  readonly text: string
}

/** Scans that differ in what is read, each once. */
function goldenScans(): Map<string, GoldenScan> {
  const scans = new Map<string, GoldenScan>()
  for (const { blocks, name } of readGoldenFiles()) {
    let from: string | undefined
    for (const { kind, header, body } of blocks) {
      if (kind === 'commands') {
        const control = /^control from (.+)$/m.exec(header.join('\n'))?.[1]
        if (control !== undefined) from = control === 'none' ? undefined : control
      }
      if (kind !== 'query' && kind !== 'explain') continue
      const text = body.join('\n')
      const physical = plannedOf(text, from)
      for (const plan of physical ? [...physical.semiJoinSets, physical.plan] : []) {
        if (plan.access.kind !== 'scan') continue
        const { output: _output, stages: _stages, ...read } = plan
        scans.set(keyOf(read), { plan, text: `${name}: ${text}` })
      }
    }
  }
  return scans
}

/** Undefined of a query that depends on what a catalog has, or on an answer before it. */
function plannedOf(text: string, from: string | undefined): PhysicalQuery | undefined {
  try {
    return physicalQuery(text, () => 1, from)
  } catch (thrown) {
    if (toAssayError(thrown).code === 'INTERNAL') throw thrown
    return undefined
  }
}

function keyOf(read: object): string {
  return JSON.stringify(read, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
}

const bounds = {
  database: 'assay',
  exportedThrough: 1,
  arrivedThrough: 1,
  areEndsKnown: true,
  transaction: 1,
  round: '',
  after: undefined,
}

function shareOf(plan: PhysicalPlan): Share {
  const given = [plan, bounds, clock, (set: number) => `SELECT ${set}, ''`] as const
  const { level, left } = compileGroupScan(...given) ?? compileScan(...given)
  if (left === undefined) return 'exact'
  return left === 'filter' ? level : 'exact filter'
}

test('most scans of the golden files run on a cluster as a whole', () => {
  const scans = goldenScans()
  const counts: Record<Share, number> = { exact: 0, 'exact filter': 0, superset: 0, none: 0 }
  for (const { plan, text } of scans.values()) {
    const share = shareOf(plan)
    counts[share]++
    if (process.env.ASSAY_SHOW === share) console.log(`${share}: ${text}`)
  }
  const shares = Object.entries(counts).map(([share, count]) => {
    return `${share} ${count} (${((100 * count) / scans.size).toFixed(1)} %)`
  })
  console.log(`${scans.size} scans: ${shares.join(', ')}`)
  expect(scans.size).toBeGreaterThan(500)
  expect(counts.exact / scans.size).toBeGreaterThanOrEqual(leastShare)
})
