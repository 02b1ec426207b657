/**
 * Says why a query has no rows: what its source has, which of its conditions no record passes, and which
 * of its fields no record has. Found by counting, in one query.
 */
import type { Engine, QueryRequest } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import type { Expression, Query, Source } from '../../parser/ast.ts'
import { childrenOf } from '../../parser/children.ts'
import { parseRequest } from '../../parser/parse-request.ts'
import { printExpression, printPath } from '../../parser/print.ts'
import { printSource } from '../../parser/print-query.ts'
import { queryRows } from '../query-rows.ts'

/** Conditions and fields that are counted each for itself. */
const mostCounted = 20

const longestShown = 200

export async function whyEmpty(
  engine: Engine,
  request: Omit<QueryRequest, 'format' | 'separator'>,
): Promise<string> {
  const query = parseRequest(request.query, request.from)
  // What is asked of traces may have no place in a count, and then the source alone is counted.
  for (const counted of [query, { ...query, filter: undefined }]) {
    try {
      return await explain(engine, request, counted)
    } catch (thrown) {
      // The query itself has run: what cannot be counted about it is no reason to fail.
      if (!(thrown instanceof AssayError) || thrown.family === 'internal') throw thrown
    }
  }
  return 'no rows pass the query'
}

async function explain(
  engine: Engine,
  request: Omit<QueryRequest, 'format' | 'separator'>,
  query: Query,
): Promise<string> {
  const { from, filter, limit, offset, cursor } = query
  if (limit?.value === 0) return 'the query asks for no rows: its limit is 0'
  if (from === undefined) return 'no rows pass the query'
  const conditions = (filter ? conjuncts(filter) : []).slice(0, mostCounted)
  const paths = pathsOf(conditions).slice(0, mostCounted)
  const measures = [
    'count(1) as total',
    ...(from.kind === 'table' ? ['min(created) as earliest', 'max(created) as latest'] : []),
    ...conditions.map((each, i) => `count(1) filter (where ${printExpression(each)}) as c${i}`),
    ...(conditions.length > 1
      ? [`count(1) filter (where ${printExpression(filter!)}) as together`]
      : []),
    ...paths.map((path, i) => `count(${printPath(path)}) as p${i}`),
  ]
  const counting = `measures: ${measures.join(', ')} | from: ${printSource(from)}`
  const { from: _, query: __, ...rest } = request
  const [counts = {}] = await queryRows(engine, { ...rest, query: counting })
  const at = (name: string) => Number(counts[name] ?? 0)
  if (at('total') === 0) return emptySource(from)
  const range =
    counts.earliest === undefined || counts.earliest === null
      ? ''
      : `, created from ${String(counts.earliest)} to ${String(counts.latest)}`
  const reasons = [`the source has ${at('total')} ${unitOf(from)}${range}`]
  for (const [i, path] of paths.entries()) {
    if (at(`p${i}`) === 0) reasons.push(`no record has a value at ${printPath(path)}`)
  }
  for (const [i, condition] of conditions.entries()) {
    const count = at(`c${i}`)
    reasons.push(`${count === 0 ? 'none passes' : `${count} pass`} ${short(condition)}`)
  }
  const passing =
    conditions.length > 1 ? at('together') : conditions.length === 1 ? at('c0') : at('total')
  if (passing === 0 && conditions.length > 1) reasons.push('none passes all of these together')
  if (passing > 0) reasons.push(later(query, passing, offset?.value, cursor !== undefined))
  return reasons.join('; ')
}

/** What comes after the filter, of which something leaves nothing. */
function later(
  query: Query,
  passing: number,
  offset: number | undefined,
  hasCursor: boolean,
): string {
  const which = [
    ...(query.finalFilter ? ['its condition on groups (final_filter, HAVING)'] : []),
    ...(offset ? [`its offset of ${offset}`] : []),
    ...(hasCursor ? ['its cursor, after which there is nothing more'] : []),
    ...(query.sample ? ['its sample'] : []),
  ]
  const left = which.length > 0 ? which.join(' or ') : 'what is asked of them'
  return `${passing} pass the filter, and ${left} leaves none`
}

function emptySource(from: Source): string {
  const text = printSource(from)
  return from.kind === 'subquery'
    ? `the query in parentheses has no rows: ${text.slice(0, longestShown)}`
    : `the source is empty: there are no records in ${text}`
}

function unitOf(from: Source): string {
  if (from.kind === 'subquery') return 'rows'
  return from.shape === 'summary' ? 'traces' : 'records'
}

function conjuncts(filter: Expression): readonly Expression[] {
  return filter.kind === 'and' ? filter.operands.flatMap(conjuncts) : [filter]
}

/** Fields that the conditions name, each once. */
function pathsOf(conditions: readonly Expression[]): string[][] {
  const found = new Map<string, string[]>()
  const pending = [...conditions]
  for (let each = pending.pop(); each; each = pending.pop()) {
    if (each.kind === 'path' && each.parts.every((part) => typeof part === 'string')) {
      found.set(printPath(each.parts), [...each.parts])
    }
    // To ask whether a field is null is to know that it may be missing.
    if (each.kind !== 'is_null') pending.push(...childrenOf(each))
  }
  return [...found.values()].reverse()
}

function short(condition: Expression): string {
  const text = printExpression(condition)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}
