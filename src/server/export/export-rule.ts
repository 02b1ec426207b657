/** What a scheduled export of a project says, as it is stored with its automation. */
import type { z } from 'zod'
import type { Entries } from '../../catalog/entry.ts'
import { exportConfiguration } from '../../catalog/schema/automation.ts'
import { AssayError } from '../../error.ts'
import { checkPlace } from '../../object-store/export-places.ts'
import { printString } from '../../parser/print.ts'
import { formatTransaction } from '../../type/transaction.ts'

export type Automation = Entries['project_automation']

export const exportFormats = ['jsonl', 'parquet'] as const

export interface ExportRule {
  /** `query`: the rows of a query of the user's. */
  readonly kind: 'spans' | 'traces' | 'query'
  readonly query: string
  readonly path: string
  readonly format: (typeof exportFormats)[number]
  readonly isCompressed: boolean
  readonly intervalMs: number
  /** Row versions of a file, about. */
  readonly mostRows: number
  readonly isPaused: boolean
}

export const usualRows = 250_000
const dayMs = 24 * 3600 * 1000

export function isExport(config: unknown): boolean {
  return (config as { readonly event_type?: unknown } | null)?.event_type === 'btql_export'
}

/** The rule of an automation; undefined of one that does something else. Throws REQUEST_INVALID for what cannot be done. */
export function ruleOf({ project_id, config }: Pick<Automation, 'project_id' | 'config'>) {
  const parsed = exportConfiguration.safeParse(config)
  if (!parsed.success) return undefined
  const { export_definition, export_path, interval_seconds, batch_size, status } = parsed.data
  const { compression } = parsed.data
  const format = exportFormats.find((each) => each === parsed.data.format)
  if (!format) throw invalid('format', parsed.data.format, 'jsonl or parquet')
  if (compression != null && compression !== 'gzip' && compression !== 'none') {
    throw invalid('compression', compression, 'gzip or none')
  }
  return {
    ...contentOf(project_id, export_definition),
    path: export_path,
    format,
    isCompressed: format === 'jsonl' && compression !== 'none',
    intervalMs: interval_seconds * 1000,
    mostRows: Math.max(1, batch_size ?? usualRows),
    isPaused: status === 'paused',
  } satisfies ExportRule
}

/** Throws REQUEST_INVALID for what could not be carried out anywhere. */
export function checkExport(config: unknown): void {
  const rule = ruleOf({ project_id: '', config: config as Automation['config'] })
  if (rule) checkPlace(rule.path)
}

/** Of the times by which files are put into folders. */
export function periodSeconds({ intervalMs }: ExportRule): number {
  return (intervalMs < dayMs ? 3_600_000 : dayMs) / 1000
}

/** Where the rows of a range come to lie: each run of the range writes the same file. */
export function filePath(
  rule: ExportRule,
  automationId: string,
  { first, through }: { readonly first: number; readonly through: number },
): string {
  // All rows of the range are of one hour, or day; what comes after them up to its end is not of the export.
  const time = new Date(Math.floor(first / 0x10000) * 1000).toISOString()
  const hour = rule.intervalMs < dayMs ? `hour=${time.slice(11, 13)}/` : ''
  const range = `${formatTransaction(first)}-${formatTransaction(through)}`
  const ending = `${rule.format}${rule.isCompressed ? '.gz' : ''}`
  return `date=${time.slice(0, 10)}/${hour}${range}-${automationId.slice(0, 8)}.${ending}`
}

/** Of an export of a project's spans. */
export function spansQuery(projectId: string): string {
  return `select: * | from: project_logs(${printString(projectId)}) spans`
}

type Definition = z.infer<typeof exportConfiguration>['export_definition']

function contentOf(projectId: string, definition: Definition) {
  const logs = `project_logs(${printString(projectId)})`
  switch (definition.type) {
    case 'log_spans':
      return { kind: 'spans', query: spansQuery(projectId) } as const
    case 'log_traces':
      return { kind: 'traces', query: `select: * | from: ${logs} summary` } as const
    case 'btql_query': {
      const { btql_query: query } = definition as { readonly btql_query: string }
      return { kind: 'query', query } as const
    }
    default:
      throw invalid(
        'export_definition.type',
        definition.type,
        'log_traces, log_spans or btql_query',
      )
  }
}

/** The query for the traces that something was written to after a transaction. */
export function tracesSince({ query }: ExportRule, after: number): string {
  return `${query} | filter: any_span(_xact_id > ${printString(formatTransaction(after))})`
}

function invalid(field: string, value: string, choices: string): AssayError {
  const message = `"${value.slice(0, 100)}" is no ${field} of an export`
  return new AssayError('REQUEST_INVALID', message, {
    path: `config.${field}`,
    hint: `give ${choices}`,
  })
}
