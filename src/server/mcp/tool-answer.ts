/** What tools have in common: who asks, what bounds their answers, and how these are written. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import type { Engine } from '../../engine.ts'
import { toAssayError } from '../../error.ts'
import { renderError } from '../../parser/error-location.ts'
import { writeExactJson } from '../../type/exact-json.ts'
import { version } from '../version.ts'
import type { CappedRows } from './capped-rows.ts'

export interface ToolContext {
  readonly engine: Engine
  readonly gate: Gate
  readonly signal: AbortSignal
  /** The base of the addresses of pages. */
  readonly url: string
}

export type ToolServer = McpServer

export const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false }

export const language =
  'BTQL: clauses on lines or between "|", such as\n' +
  "select: id, input, output | from: experiment('<id>') | filter: scores.exact < 1 | limit: 10\n" +
  "dimensions: metadata.model | measures: count(1) as n, avg(scores.exact) as exact | from: project_logs('<id>')\n" +
  'or SQL: SELECT … FROM … WHERE … GROUP BY …. Sources: experiment, project_logs, dataset, ' +
  'playground_logs, project_prompts, by id or name; shapes spans (default), traces, summary.'

/** One without tools yet. */
export function newToolServer(): ToolServer {
  return new McpServer(
    { name: 'assay', version },
    { instructions: `Records of LLM evaluations and logs, queried in ${language}` },
  )
}

export const source = z
  .string()
  .max(10_000)
  .describe("What to read, as in a query: experiment('<id>'), project_logs('my project')")

export const project = z
  .string()
  .max(1000)
  .describe('Name or id of a project; project_logs() without an id is the logs of it')

export const caps = {
  max_rows: z.number().int().min(1).max(1000).default(100).describe('Rows to return at most'),
  max_bytes: z
    .number()
    .int()
    .min(1000)
    .max(1_000_000)
    .default(100_000)
    .describe('Bytes of rows to return at most'),
  timeout_seconds: z.number().min(0.1).max(60).default(20).describe('Time that the query may take'),
}

/** Rows as they are, in the text of the answer: numbers keep their digits. */
export function shown(
  { rows, cappedBy, cursor }: CappedRows,
  more: { readonly [name: string]: unknown } = {},
): string {
  const about = {
    row_count: rows.length,
    truncated: cappedBy !== undefined,
    ...(cappedBy !== undefined && { truncated_by: cappedBy }),
    ...(cursor !== undefined && { cursor }),
    ...more,
  }
  return `${JSON.stringify(about).slice(0, -1)},"rows":[${rows.join(',\n')}]}`
}

/** A fault of the asker's is a result: the assistant reads it, with its place in the query. */
export async function answered(query: string | undefined, ask: () => Promise<object | string>) {
  try {
    const result = await ask()
    const text = typeof result === 'string' ? result : writeExactJson(result)
    return { content: [{ type: 'text' as const, text }] }
  } catch (thrown) {
    const error = toAssayError(thrown)
    if (error.family === 'internal') throw error
    const hint = error.hint === undefined ? '' : `\n${error.hint}`
    const text =
      error.span && query !== undefined
        ? renderError(query, error)
        : `${error.code}: ${error.message}${hint}`
    return { isError: true, content: [{ type: 'text' as const, text }] }
  }
}

export function first<T>(entries: Iterable<T>, count: number): { items: T[]; hasMore: boolean } {
  const items: T[] = []
  for (const entry of entries) {
    if (items.length === count) return { items, hasMore: true }
    items.push(entry)
  }
  return { items, hasMore: false }
}
