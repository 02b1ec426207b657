import { withRowValues } from '../group-columns.ts'
import type { Rule } from '../rule.ts'

/** Conditions on traces, and groups of them, read what the scan has kept of each trace's row. */
export const keepRowValues: Rule = { name: 'keep-row-values', apply: withRowValues }
