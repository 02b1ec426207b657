import type { Timed } from '../measure/alternate.ts'
import type { Layout } from '../systems/system.ts'

/** What of a query's life in a process is measured, in the order in which it is. */
export const phases = ['afterLoad', 'afterRestart', 'early', 'warm'] as const

export type Phase = (typeof phases)[number]

export interface QueryResult {
  readonly name: string
  readonly phases: Readonly<Partial<Record<Phase, readonly Timed[]>>>
  /** By system, where an answer was not that of the one that all are compared with: the first of them. */
  readonly differences: Readonly<Partial<Record<Layout, string>>>
}
