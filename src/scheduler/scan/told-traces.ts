/** Sets of traces as the cluster is told of them. */
import type { TraceSetSql } from '../../clickhouse/read/compiled-scan.ts'
import { textLiteral, tuple } from '../../clickhouse/read/sql-text.ts'
import type { SemiJoinSet } from '../../executor/expression/semi-join-set.ts'

/** Of all texts: a longer statement takes the nodes longer to read than the rows that it leaves out. */
const mostBytes = 256 * 1024

/** What a text that UTF-8 cannot hold begins with here, and what a column of the cluster has in place of it. */
const [notUtf8, replaced] = [0xff, '\ufffd']

/** Tells sets of few traces; the rows of others come back, and tasks ask for them. */
export function toldTraces(sets: readonly SemiJoinSet[]): TraceSetSql {
  return (set) => {
    const found = sets[set]
    if (!found || found.numbered) return undefined
    const bytes = found.traces.reduce((sum, { bytes }) => sum + bytes.length, 0)
    return bytes > mostBytes ? undefined : pairsOf(found)
  }
}

function pairsOf({ objects, traces }: SemiJoinSet): string | undefined {
  const pairs: string[] = []
  for (const [i, { bytes, offsets }] of traces.entries()) {
    for (let at = 0; at + 1 < offsets.length; at++) {
      const trace = bytes.subarray(offsets[at]!, offsets[at + 1]!)
      const text = Buffer.from(trace).toString()
      if (trace[0] === notUtf8 || text.includes(replaced)) return undefined
      pairs.push(tuple([String(objects[i]!), textLiteral(text)!]))
    }
  }
  return pairs.join(', ')
}
