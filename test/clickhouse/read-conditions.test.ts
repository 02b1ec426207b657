/**
 * What the cluster tells of conditions is true: it selects no row of which it is sure that does not pass, and leaves out
 * none that does. Over random records and conditions, against the row oracle.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ProofLevel } from '../../src/clickhouse/read/bounds.ts'
import { compilePredicates } from '../../src/clickhouse/read/compile-predicates.ts'
import type { CompileContext } from '../../src/clickhouse/read/compile-value.ts'
import { StatementConstants } from '../../src/clickhouse/read/statement-names.ts'
import { printExpression } from '../../src/parser/print.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { conditions } from '../support/arbitrary-expression.ts'
import { records } from '../support/arbitrary-record.ts'
import { clock, physicalQuery } from '../support/compiled-plan.ts'
import { loadTable } from '../support/exported-rows.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { expectedLines, type Loaded } from '../support/oracle-check.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'

const clusterNumber = 97
const database = 'assay_conditions'
const loads = isSlow ? 100 : 1
const conditionsPerLoad = Number(process.env.ASSAY_CASES ?? 200)
const atOnce = 10

/** Of all cases. */
const constants = new StatementConstants()

interface Case {
  readonly text: string
  readonly sure: string
  readonly may: string
  readonly level: ProofLevel
  readonly areTold: boolean
}

describe.runIf(isClusterAsked)(`conditions, seed ${seed}`, { timeout: 3_600_000 }, () => {
  const cluster = useCluster(clusterNumber, 2)

  test('are sure of rows that pass, and keep all that may', async () => {
    const counts = { exact: 0, superset: 0, none: 0 }
    const found = { same: 0, rows: 0 }
    for (let i = 0; i < loads; i++) {
      const given = fc.sample(fc.array(records, { minLength: 60, maxLength: 60 }), {
        numRuns: 1,
        seed: seed + i,
      })[0]!
      const { loaded, object } = await loadTable(cluster(), database, given)
      const tests = fc.sample(conditions, { numRuns: conditionsPerLoad, seed: seed + i })
      const cases = tests.flatMap((condition) => caseOf(printExpression(condition), object) ?? [])
      for (let at = 0; at < cases.length; at += atOnce) {
        const part = cases.slice(at, at + atOnce)
        const answers = await ask(cluster(), part, object)
        for (const [j, { text, level, sure, may }] of part.entries()) {
          const [certain, possible] = answers[j]!
          const passing = idsWhere(text, loaded)
          const label = `seed ${seed + i}: ${text}\n${level}\nsure ${sure}\nmay ${may}`
          expect(passing, label).toEqual(expect.arrayContaining(certain))
          expect(possible, label).toEqual(expect.arrayContaining(passing))
          counts[level]++
          found.rows++
          if (certain.length === possible.length) found.same++
        }
      }
    }
    console.log(
      `${found.rows} conditions, seed ${seed}: ${JSON.stringify(counts)}; of ${found.same} all rows were told`,
    )
  })
})

function caseOf(text: string, object: number): Case | undefined {
  const query = `select: id | from: experiment('e') | filter: ${text}`
  const { plan, semiJoinSets } = physicalQuery(query, () => object)
  if (plan.access.kind !== 'scan') return undefined
  const contextOf = (known: readonly (string | undefined)[]): CompileContext => ({
    ...clock,
    objects: plan.objects,
    traceSet: (set) => known[set],
    constants,
  })
  const sets: (string | undefined)[] = []
  for (const set of semiJoinSets) {
    const { rows } = compilePredicates(set.predicates, contextOf(sets))
    const isPlain = set.stage.kind === 'groups' && set.stage.aggregates.length === 0
    const isTold = isPlain && set.access.kind === 'scan' && rows.sure === rows.may
    sets.push(
      isTold
        ? `SELECT object, trace FROM ${database}.records WHERE object = ${object} AND ${rows.sure}`
        : undefined,
    )
  }
  const { level, rows } = compilePredicates(plan.predicates, contextOf(sets))
  return { text, ...rows, level, areTold: rows.sure === rows.may }
}

async function ask(
  cluster: Cluster,
  cases: readonly Case[],
  object: number,
): Promise<(readonly [string[], string[]])[]> {
  const columns = cases.flatMap(({ sure, may }, i) => [
    `groupArrayIf(id, ${sure}) AS s${i}`,
    `groupArrayIf(id, ${may}) AS m${i}`,
  ])
  const [row] = await cluster.ask<Record<string, string[]>>(
    1,
    constants.before(
      `SELECT ${columns.join(', ')} FROM ${database}.records WHERE object = ${object} SETTINGS distributed_product_mode = 'local'`,
    ),
  )
  return cases.map((_, i) => [row![`s${i}`]!, row![`m${i}`]!] as const)
}

function idsWhere(text: string, loaded: Loaded): string[] {
  const query = `select: id | from: experiment('e') | filter: ${text}`
  return expectedLines(query, loaded).map((line) => (JSON.parse(line) as { id: string }).id)
}
