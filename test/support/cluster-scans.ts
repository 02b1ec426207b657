/** How much of the scans of queries a cluster has made, by what their audit logs say. */
import type { AuditEvent } from '../../src/scheduler/scan/audit-log.ts'

/** Of one scan, which may be asked for in several statements. */
interface Scan {
  readonly query: string
  /** What is left to Assay of it; undefined: it is made as a whole. */
  left: string | undefined
}

export class ClusterScans {
  readonly #scans: Scan[] = []

  /** Returns what is to be told the events of a query. */
  begin(query: string): (event: AuditEvent) => void {
    const scans = new Map<string, Scan>()
    return ({ event, plan, left }) => {
      if (event !== 'cluster' && event !== 'cluster groups') return
      const scan = scans.get(String(plan)) ?? { query, left: undefined }
      if (!scans.has(String(plan))) {
        scans.set(String(plan), scan)
        this.#scans.push(scan)
      }
      if (left !== undefined) scan.left = String(left)
    }
  }

  /** Queries of which something was left to Assay. */
  left(): { readonly query: string; readonly left: string }[] {
    return this.#scans.flatMap(({ query, left }) => (left === undefined ? [] : [{ query, left }]))
  }

  /** One line. */
  summary(): string {
    const all = this.#scans.length
    const counts = new Map<string, number>()
    for (const { left } of this.left()) counts.set(left, (counts.get(left) ?? 0) + 1)
    const whole = all - this.left().length
    const share = all === 0 ? '' : ` (${((100 * whole) / all).toFixed(1)} %)`
    const others = [...counts].map(([left, count]) => `${left} left ${count}`)
    return [`${all} scans of the cluster: ${whole} made there${share}`, ...others].join(', ')
  }
}
