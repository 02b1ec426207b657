/**
 * What of a query is likely to be slow or to give more than was meant. Answers carry it as warnings;
 * a strict request is refused for those of severity `warning`.
 */
import {
  type BoundExpression,
  type BoundObject,
  type BoundQuery,
  childrenOf,
} from '../binder/bound.ts'
import { AssayError } from '../error.ts'
import { readSearchQuery } from '../type/search-query.ts'
import { textOf } from '../type/text.ts'

export interface QueryWarning {
  /** Names the rule; stable. */
  readonly code: string
  readonly message: string
  readonly stage: 'request' | 'optimizer'
  /** `info` is good to know and no reason to refuse a query. */
  readonly severity: 'warning' | 'info'
  readonly hint?: string
}

/** Records that a query reads, and its condition on them. */
interface Reading {
  readonly query: BoundQuery
  readonly objects: readonly BoundObject[]
  readonly filter: BoundExpression | undefined
}

interface Rule {
  readonly code: string
  readonly severity: QueryWarning['severity']
  readonly message: string
  readonly hint: string
  matches(reading: Reading): boolean
}

const orderFields: ReadonlySet<string> = new Set(['created', '_xact_id', '_pagination_key'])
const identityFields: ReadonlySet<string> = new Set(['id', 'root_span_id', 'span_id'])
const documentFields: ReadonlySet<string> = new Set(['input', 'output', 'expected', 'metadata'])

const rules: readonly Rule[] = [
  {
    code: 'missingSegmentEliminationSpecs',
    severity: 'warning',
    message: 'the query of project logs has no range of time, so it looks at all of them',
    hint: 'add a condition on created, _xact_id or _pagination_key, or the id or root_span_id',
    matches: ({ query, objects, filter }) =>
      objects.some(({ type }) => type === 'project_logs') &&
      !(filter && isNarrow(filter, query.semiJoinSets)),
  },
  {
    code: 'fullSpanDocuments',
    severity: 'info',
    message: 'the query gives whole documents of any number of rows',
    hint: 'add a limit, or select the fields that are needed',
    matches: ({ query, filter }) =>
      query.limit === undefined &&
      showsDocuments(query) &&
      !(filter && isNarrow(filter, query.semiJoinSets)),
  },
  {
    code: 'filterPushdown',
    severity: 'info',
    message: 'a condition computes something of every row, so no rows can be skipped by it',
    hint: 'compare a field itself, if that says the same',
    matches: ({ filter }) => conjunctsOf(filter).some(isComputed),
  },
  {
    code: 'leadingWildcard',
    severity: 'info',
    message: 'a pattern begins with %, so it is tried on every value',
    hint: 'match finds words without trying every value',
    matches: ({ filter }) => contains(filter, hasLeadingWildcard),
  },
  {
    code: 'nothingToLookFor',
    severity: 'warning',
    message: 'match or search is given a text that has no word and no sign, so it is found nowhere',
    hint: 'give a letter, a digit, or a sign such as €, → or 🎉; like finds points and commas',
    matches: ({ query, filter }) =>
      [filter, ...query.semiJoinSets, ...expressionsOf(query)].some((each) =>
        contains(each, asksForNothing),
      ),
  },
]

/** In the order of the rules, each once. */
export function lint(query: BoundQuery): QueryWarning[] {
  const reading = readingOf(query)
  return rules
    .filter((rule) => rule.matches(reading))
    .map(({ code, severity, message, hint }) => ({
      code,
      message,
      stage: 'optimizer',
      severity,
      hint,
    }))
}

/** Throws LINT_FAILED when there are warnings that a strict request does not accept. */
export function refuseWarnings(warnings: readonly QueryWarning[]): void {
  const refused = warnings.filter(({ severity }) => severity === 'warning')
  const [first] = refused
  if (!first) return
  const lints = refused.map(
    ({ code, stage, severity, message }) => `${code} (${stage}/${severity}): ${message}`,
  )
  const count = `${refused.length} lint${refused.length > 1 ? 's' : ''}`
  throw new AssayError(
    'LINT_FAILED',
    `Query blocked by strict lint mode due to ${count}: ${lints.join('; ')}`,
    { hint: `${first.hint ?? 'mend the query'}; or send "lint_mode": "default"` },
  )
}

/** Of queries in `from`, the innermost reads records. */
function readingOf(query: BoundQuery): Reading {
  const { source, filter } = query
  switch (source.kind) {
    case 'objects':
      return { query, objects: source.objects, filter }
    case 'traces':
      return { query, objects: source.objects, filter: source.selection.filter }
    case 'summary':
      return { query, objects: source.objects, filter: source.filter }
    case 'comparison':
      return { query, objects: source.summary.objects, filter: source.summary.filter }
    case 'query':
      return readingOf(source.query)
  }
}

/** Whether a condition is true only of rows of some time, or of records that it names. */
function isNarrow(condition: BoundExpression, semiJoinSets: readonly BoundExpression[]): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.operands.some((operand) => isNarrow(operand, semiJoinSets))
    case 'or':
      return condition.operands.every((operand) => isNarrow(operand, semiJoinSets))
    case 'in_traces': {
      const set = semiJoinSets[condition.set]
      return set !== undefined && isNarrow(set, semiJoinSets)
    }
    case 'in':
      return isFieldIn(condition.operand, orderFields, identityFields)
    case 'comparison': {
      const { operator, left, right } = condition
      if (operator === 'ne' || operator === 'is_different') return false
      const isEquality = operator === 'eq' || operator === 'is_same'
      const fields = isEquality ? [orderFields, identityFields] : [orderFields]
      return isFieldIn(left, ...fields) || isFieldIn(right, ...fields)
    }
    default:
      return false
  }
}

function isFieldIn(node: BoundExpression, ...names: readonly ReadonlySet<string>[]): boolean {
  if (node.kind !== 'field' || node.path.length !== 1) return false
  return names.some((set) => set.has(String(node.path[0])))
}

function showsDocuments({ output }: BoundQuery): boolean {
  if (output.kind !== 'rows') return false
  return (
    output.star || output.columns.some(({ expression }) => isFieldIn(expression, documentFields))
  )
}

function conjunctsOf(condition: BoundExpression | undefined): readonly BoundExpression[] {
  if (!condition) return []
  return condition.kind === 'and' ? condition.operands.flatMap(conjunctsOf) : [condition]
}

/** Fields are read, and nothing is asked of one of them itself. */
function isComputed(condition: BoundExpression): boolean {
  return (
    contains(condition, (node) => node.kind === 'field') &&
    !contains(condition, (node) => node.kind === 'in_traces' || asksField(node)) &&
    condition.kind !== 'field'
  )
}

function asksField(node: BoundExpression): boolean {
  switch (node.kind) {
    case 'comparison':
      return node.left.kind === 'field' || node.right.kind === 'field'
    case 'in':
    case 'is_null':
    case 'like':
    case 'match':
    case 'not':
      return node.operand.kind === 'field'
    case 'includes':
      return node.haystack.kind === 'field' || node.needle.kind === 'field'
    default:
      return false
  }
}

function hasLeadingWildcard(node: BoundExpression): boolean {
  if (node.kind !== 'like' || node.pattern.kind !== 'constant') return false
  return typeof node.pattern.value === 'string' && node.pattern.value.startsWith('%')
}

/** What is computed of rows for the answer. */
function expressionsOf({ output }: BoundQuery): readonly BoundExpression[] {
  return output.kind === 'rows' ? output.columns.map(({ expression }) => expression) : []
}

function asksForNothing(node: BoundExpression): boolean {
  if (node.kind !== 'match' || node.query.kind !== 'constant') return false
  const { value } = node.query
  return value !== null && readSearchQuery(textOf(value)).length === 0
}

function contains(
  node: BoundExpression | undefined,
  isWanted: (node: BoundExpression) => boolean,
): boolean {
  if (!node) return false
  return isWanted(node) || childrenOf(node).some((child) => contains(child, isWanted))
}
