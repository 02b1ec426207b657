/** Which traces of an object a rule lets go. */
import type { CatalogObject, CatalogView } from '../../catalog/catalog.ts'
import type { Engine } from '../../engine.ts'
import { ExactNumber } from '../../type/exact-json.ts'
import { eachRow } from '../query-rows.ts'
import { type RetentionRule, usualHoldTags } from './rule.ts'

export interface HoldTags {
  readonly rule: Pick<RetentionRule, 'hold_tags'>
}

export interface Trace {
  readonly root: string
  /** When its newest span was made, as the query shows it. */
  readonly newest: string
  readonly records: number
  /** Of the text of its values, about. */
  readonly bytes: number
}

export interface Selection {
  readonly traces: readonly Trace[]
  /** Traces that would go, but for a tag or for the filter. */
  readonly held: number
  readonly kept: number
  readonly isAll: boolean
}

export interface SelectOptions {
  readonly engine: Engine
  readonly view: CatalogView
  readonly object: CatalogObject
  readonly rule: RetentionRule
  readonly signal?: AbortSignal | undefined
  /** No more traces are listed. */
  readonly most: number
}

/** By which the bytes of more are estimated. */
const sampledTraces = 1000

const dayMs = 24 * 3600 * 1000

/** Whose texts are counted: what takes nearly all of a record. */
const largeFields = ['input', 'output', 'expected', 'metadata', 'error', 'scores', 'metrics']

/** Where newest traces stay, all are looked at, the newest first. */
export async function selectTraces(options: SelectOptions): Promise<Selection> {
  const { engine, view, rule, signal, most } = options
  const cutoff = engine.now() - rule.retention_days * dayMs
  const traces: Trace[] = []
  let [held, kept, seen, bytesSeen] = [0, 0, 0, 0]
  let isAll = true
  const asked = { query: queryOf(options), view, ...(signal && { signal }) }
  for await (const row of eachRow(engine, asked)) {
    const root = row.root_span_id
    const newest = row.newest
    if (typeof root !== 'string' || typeof newest !== 'string') continue
    const records = numberOfExact(row.records)
    const bytes = numberOfExact(row.bytes)
    seen++
    bytesSeen += bytes
    const isOver =
      Date.parse(newest) < cutoff ||
      (rule.retention_count != null && seen > rule.retention_count) ||
      (rule.retention_bytes != null && bytesSeen > rule.retention_bytes)
    if (!isOver) continue
    if (numberOfExact(row.held) > 0) held++
    else if (numberOfExact(row.kept) > 0) kept++
    else if (traces.length < most) traces.push({ root, newest, records, bytes })
    else isAll = false
  }
  return { traces: await withBytes(options, traces), held, kept, isAll }
}

/** With the bytes of those that are few, or an estimate by some of many: to add up the texts of all takes long. */
async function withBytes(
  options: SelectOptions,
  traces: readonly Trace[],
): Promise<readonly Trace[]> {
  if (options.rule.retention_bytes != null || traces.length === 0) return traces
  const { engine, view, object, signal } = options
  const step = Math.ceil(traces.length / sampledTraces)
  const sample = traces.filter((_, i) => i % step === 0)
  const asked = {
    query: [
      `measures: sum(${sizeOf(object)}) as bytes, count(1) as records`,
      `from: ${object.type}(${quoted(object.id)})`,
      `filter: root_span_id in [${sample.map(({ root }) => quoted(root)).join(', ')}]`,
    ].join('\n| '),
    view,
    ...(signal && { signal }),
  }
  let average = 0
  for await (const { bytes, records } of eachRow(engine, asked)) {
    average = numberOfExact(bytes) / Math.max(1, numberOfExact(records))
  }
  return traces.map((trace) => ({ ...trace, bytes: Math.round(average * trace.records) }))
}

function queryOf({ object, rule }: SelectOptions): string {
  const size = rule.retention_bytes != null ? sizeOf(object) : '0'
  const isRanked = rule.retention_count != null || rule.retention_bytes != null
  return [
    'dimensions: root_span_id',
    `measures: max(created) as newest, count(1) as records, sum(${size}) as bytes, ` +
      `count_if(${keptCondition(rule)}) as kept, count_if(${heldCondition(rule)}) as held`,
    `from: ${object.type}(${quoted(object.id)})`,
    ...(isRanked ? ['sort: newest desc, root_span_id'] : []),
  ].join('\n| ')
}

/** Of a record, about. */
function sizeOf({ type }: CatalogObject): string {
  return largeFields
    .filter((name) => type !== 'dataset' || datasetFields.has(name))
    .map((name) => `coalesce(length(cast(${name} as string)), 0)`)
    .join(' + ')
}

const datasetFields: ReadonlySet<string> = new Set(['input', 'expected', 'metadata'])

/** Ids of all records of traces that a tag holds. */
export async function heldRecords({
  engine,
  view,
  object,
  rule,
  signal,
}: Omit<SelectOptions, 'most' | 'rule'> & HoldTags): Promise<string[]> {
  const asked = {
    query: [
      'select: id',
      `from: ${object.type}(${quoted(object.id)})`,
      `filter: any_span(${heldCondition(rule)})`,
    ].join('\n| '),
    view,
    ...(signal && { signal }),
  }
  const ids: string[] = []
  for await (const { id } of eachRow(engine, asked)) ids.push(String(id))
  return ids
}

/** Whether a span keeps its trace. */
function keptCondition({ keep_filter }: RetentionRule): string {
  // A comment at its end would hide what follows.
  return keep_filter ? `(${keep_filter}\n)` : 'false'
}

export function heldCondition({ hold_tags }: Pick<RetentionRule, 'hold_tags'>): string {
  const tags = hold_tags ?? usualHoldTags
  return tags.map((tag) => `tags includes ${quoted(tag)}`).join(' or ') || 'false'
}

/**
 * Ids of the records of traces as they are now; without the traces that have changed since they were selected, which are for
 * another time.
 */
export async function recordsOf(
  { engine, view, object, rule, signal }: Omit<SelectOptions, 'most'>,
  traces: readonly Trace[],
): Promise<string[]> {
  const asked = {
    query: [
      `select: id, root_span_id, created, (${keptCondition(rule)} or ${heldCondition(rule)}) as stays`,
      `from: ${object.type}(${quoted(object.id)})`,
      `filter: root_span_id in [${traces.map(({ root }) => quoted(root)).join(', ')}]`,
    ].join('\n| '),
    view,
    ...(signal && { signal }),
  }
  const found = new Map(traces.map(({ root }) => [root, [] as string[]]))
  const newest = new Map<string, string>()
  for await (const { id, root_span_id, created, stays } of eachRow(engine, asked)) {
    const root = String(root_span_id)
    if (stays === true) found.delete(root)
    found.get(root)?.push(String(id))
    const made = String(created)
    if (made > (newest.get(root) ?? '')) newest.set(root, made)
  }
  return traces.flatMap((trace) =>
    newest.get(trace.root) === trace.newest ? (found.get(trace.root) ?? []) : [],
  )
}

/** As a string of the language. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function numberOfExact(value: unknown): number {
  return value instanceof ExactNumber ? Number(value.text) : Number(value ?? 0)
}
