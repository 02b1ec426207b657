/** Plans and bound expressions as text. */
import type {
  BoundAggregate,
  BoundExpression,
  BoundGrouping,
  BoundObject,
  BoundPivot,
  BoundSortKey,
  BoundUnpivot,
  ConstantValue,
  OutputColumn,
  SortPosition,
} from '../binder/bound.ts'
import { unreachable } from '../error.ts'
import { isName } from '../parser/character.ts'
import { arithmeticSymbols, comparisonSymbols } from '../parser/print.ts'
import { formatInterval, formatTimestamp } from '../type/time.ts'
import { formatCursor, type RowKey } from '../type/transaction.ts'
import { Interval, type Path, Timestamp } from '../type/value.ts'
import { askedTexts } from './access-path.ts'
import type { LogicalPlan, LogicalQuery } from './logical-plan.ts'
import type {
  AccessPath,
  Output,
  PhysicalPlan,
  PhysicalQuery,
  RelationStage,
  ScanOrder,
} from './physical-plan.ts'
import type { OperatorName, PlanProfile } from './plan-profile.ts'

/** The plan, one node a line and inputs indented below, after those of its sets of traces. */
export function explainLogical({ semiJoinSets, plan }: LogicalQuery): string {
  return explainAll(semiJoinSets.map(explainTree), explainTree(plan))
}

/** The operators that the embedded engine runs, the last first. */
export function explainPhysical({ semiJoinSets, plan }: PhysicalQuery): string {
  return explainAll(
    semiJoinSets.map((set) => explainOperators(set, undefined)),
    explainOperators(plan, undefined),
  )
}

/**
 * The operators with what each did: rows in and out, time of all tasks, and bytes; and what was left
 * out, by what ruled it out. Profiles are found by the plan's name (`scheduler/scan/scan-rows.ts`).
 */
export function explainAnalyzed(
  { semiJoinSets, plan }: PhysicalQuery,
  profileOf: (plan: string) => PlanProfile,
): string {
  return explainAll(
    semiJoinSets.map((set, i) => explainOperators(set, profileOf(`traces ${i}`))),
    explainOperators(plan, profileOf('query')),
  )
}

function explainAll(semiJoinSets: readonly string[], plan: string): string {
  const sets = semiJoinSets.map((text, i) => `traces ${i}\n${text.replace(/^/gm, '  ')}`)
  return [...sets, plan].join('\n')
}

function explainTree(plan: LogicalPlan): string {
  const lines: string[] = []
  for (let node: LogicalPlan | undefined = plan; node; ) {
    // Columns of the aggregation below are printed as what they are of.
    const names = 'input' in node ? groupNames(node.input) : []
    lines.push(`${'  '.repeat(lines.length)}${describe(node, names)}`)
    node = 'input' in node ? node.input : undefined
  }
  return lines.join('\n')
}

function groupNames(plan: LogicalPlan): readonly string[] {
  if (plan.kind === 'aggregate') return namesOf(plan, groupNames(plan.input))
  return 'input' in plan ? groupNames(plan.input) : []
}

function namesOf(grouping: BoundGrouping, inner: readonly string[]): readonly string[] {
  const { keys, aggregates, row } = grouping
  return [
    ...keys.map((key) => printBound(key, inner)),
    ...aggregates.map((aggregate) => printAggregate(aggregate, inner)),
    ...(row?.values ?? []).map((value) => printBound(value, inner)),
  ]
}

function describe(node: LogicalPlan, names: readonly string[]): string {
  switch (node.kind) {
    case 'scan':
      return `Scan: ${objects(node.objects)}${conditions(node.predicates)}${after(node.after)}`
    case 'look_up':
      return (
        `LookUp: ${objects(node.objects)} ids ${list(node.ids)}` +
        `${conditions(node.predicates)}${after(node.after)}`
      )
    case 'empty':
      return 'Empty'
    case 'project':
      return `Project: ${projection(node, names)}`
    case 'filter':
      return `Filter: ${printBound(node.predicate, names)}`
    case 'top_k': {
      const offset = node.offset > 0 ? ` offset ${node.offset}` : ''
      return `TopK: ${node.count}${offset} by ${sortKeys(node.keys, names)}`
    }
    case 'limit':
      return limit(node.count, node.offset)
    case 'unpivot':
      return unpivot(node.unpivot, names)
    case 'aggregate':
      return aggregation(node, names)
    case 'pivot':
      return pivot(node.pivot, names)
    case 'compare':
      return `Compare: by ${printBound(node.key, names)}`
    case 'infer':
      return infer(node.fields)
    case 'sort':
      return `Sort: ${sortKeys(node.keys, names)}`
    case 'seek':
      return seek(node.after)
    default:
      return unreachable(node)
  }
}

function explainOperators(plan: PhysicalPlan, profile: PlanProfile | undefined): string {
  const { stage, access, output } = plan
  const measure = (operator: OperatorName) => measured(operator, profile)
  const lines: string[] = []
  // From the scan up, as columns get their names, and then the other way around.
  let names: readonly string[] = []
  if (plan.unpivotedPredicates.length > 0) {
    const printed = plan.unpivotedPredicates.map((p) => printBound(p, []))
    lines.push(`Filter: ${printed.join(' and ')}`)
  }
  lines.unshift(...plan.unpivots.map((made) => unpivot(made, [])))
  if (plan.unpivots.length > 0) lines[0] += measure('unpivot')
  if (stage.kind === 'groups') {
    names = namesOf(stage, [])
    lines.push(`Partial${aggregation(stage, [])}${measure('sink')}`)
    lines.push(`MergeGroups${measure('merge')}`)
  } else {
    const order = plan.sort.length > 0 ? sortKeys(plan.sort, []) : 'newest first'
    const count = plan.limit === undefined ? '' : ` limit ${plan.limit}`
    const offset = plan.offset > 0 ? ` offset ${plan.offset}` : ''
    const from = plan.afterSorted ? ' after a cursor' : ''
    lines.push(`MergeRows: ${order}${from}${count}${offset}${measure('sink')}`)
  }
  for (const [i, next] of plan.stages.entries()) {
    lines.push(describeStage(next, names) + measure(`stage ${i}`))
    if (next.kind === 'aggregate') names = namesOf(next, names)
  }
  lines.push(`Print: ${projection(output, names)}${measure('print')}`)
  lines.reverse()
  // What is measured apart has a line of its own.
  const predicates = profile ? [] : plan.predicates
  const place = `${conditions(predicates)}${after(plan.after)}${measure('scan')}`
  if (profile) {
    const filters = plan.predicates.map(
      (predicate, i) => `Filter: ${printBound(predicate, [])}${measure(`filter ${i}`)}`,
    )
    lines.push(...filters.reverse())
  }
  switch (access.kind) {
    case 'empty':
      lines.push('Empty')
      break
    case 'look_up':
      lines.push(`LookUp: ${objects(plan.objects)} ids ${list(access.ids)}${place}`)
      break
    case 'scan':
      lines.push(
        `${scan(access, plan)}: ${objects(plan.objects)} [${plan.scannedFields.join(', ')}]${place}`,
      )
  }
  const tree = lines.map((line, depth) => '  '.repeat(depth) + line)
  return [...tree, ...unreadParts(profile)].join('\n')
}

const firstRead: Readonly<Record<ScanOrder, string | undefined>> = {
  newest: 'newest first',
  best: 'best first',
  newest_traces: 'newest traces first',
  metadata: 'metadata first',
  any: undefined,
}

function scan(
  { by, order }: Extract<AccessPath, { kind: 'scan' }>,
  { predicates }: PhysicalPlan,
): string {
  const texts = by === undefined ? undefined : askedTexts(predicates[by]!)
  const how = [texts && `by ${texts.path.join('.')}`, firstRead[order]].filter((part) => part)
  return how.length > 0 ? `Scan ${how.join(', ')}` : 'Scan'
}

function measured(operator: OperatorName, profile: PlanProfile | undefined): string {
  const found = profile?.operator(operator)
  if (!found) return ''
  const { rowsIn, rowsOut, bytes, milliseconds, tasks } = found
  const read = bytes > 0 ? `, ${bytes} bytes` : ''
  const shared = tasks > 1 ? ` in ${tasks} tasks` : ''
  return ` (${rowsIn} rows to ${rowsOut}${read}, ${milliseconds.toFixed(3)} ms${shared})`
}

function unreadParts(profile: PlanProfile | undefined): string[] {
  const known = profile?.operator('metadata')
  const counted = profile?.operator('text index')
  return [
    ...(known ? [`answered by metadata: ${known.rowsIn} rows`] : []),
    ...(counted ? [`counted by text index: ${counted.rowsOut} of ${counted.rowsIn} rows`] : []),
    ...(profile?.skipped ?? []).map(
      ({ by, segments, granules, rows }) =>
        `skipped by ${by}: ${rows} rows, ${granules} granules, ${segments} whole segments`,
    ),
  ]
}

function describeStage(stage: RelationStage, names: readonly string[]): string {
  switch (stage.kind) {
    case 'filter':
      return `Filter: ${stage.predicates.map((p) => printBound(p, names)).join(' and ')}`
    case 'unpivot':
      return unpivot(stage.unpivot, names)
    case 'aggregate':
      return aggregation(stage, names)
    case 'pivot':
      return pivot(stage.pivot, names)
    case 'compare':
      return `Compare: by ${printBound(stage.key, names)}`
    case 'infer':
      return infer(stage.fields)
    case 'sort':
      return `Sort: ${sortKeys(stage.keys, names)}`
    case 'seek':
      return seek(stage.after)
    case 'limit':
      return limit(stage.count, stage.offset)
    default:
      return unreachable(stage)
  }
}

function limit(count: number | undefined, offset: number): string {
  return `Limit: ${count ?? 'all'}${offset > 0 ? ` offset ${offset}` : ''}`
}

function unpivot({ expression, index }: BoundUnpivot, names: readonly string[]): string {
  return `Unpivot ${index}: ${printBound(expression, names)}`
}

function pivot({ key, measures }: BoundPivot, names: readonly string[]): string {
  const printed = measures.map((measure) => printColumn(measure, names))
  return `Pivot: [${printed.join(', ')}] by ${names[key] ?? `column ${key}`}`
}

function infer(fields: readonly Path[]): string {
  return `Infer: ${fields.length === 0 ? '*' : fields.map(printPath).join(', ')}`
}

function seek(place: SortPosition | RowKey): string {
  return 'values' in place ? 'Seek: after a cursor' : `Seek:${after(place)}`
}

function aggregation({ keys, aggregates, row }: BoundGrouping, names: readonly string[]): string {
  const by = keys.length > 0 ? ` by ${keys.map((key) => printBound(key, names)).join(', ')}` : ''
  const first = row?.preferred ? ` where ${printBound(row.preferred, names)} if any` : ''
  const values = row?.values.map((value) => printBound(value, names)) ?? []
  const of = values.length > 0 ? `[${values.join(', ')}] of ` : ''
  const kept = row ? ` keeping ${of}the ${row.pick} row${first}` : ''
  const printed = aggregates.map((aggregate) => printAggregate(aggregate, names))
  return `Aggregate: [${printed.join(', ')}]${by}${kept}`
}

function printAggregate(aggregate: BoundAggregate, names: readonly string[]): string {
  const { name, parameters, distinct, filter } = aggregate
  const operands = [
    ...aggregate.arguments.map((argument) => printBound(argument, names)),
    ...parameters.map(printConstant),
  ]
  const list = operands.length === 0 ? '*' : operands.join(', ')
  const condition = filter ? ` filter (${printBound(filter, names)})` : ''
  return `${name}(${distinct ? 'distinct ' : ''}${list})${condition}`
}

function projection({ star, columns }: Pick<Output, 'star' | 'columns'>, names: readonly string[]) {
  return [...(star ? ['*'] : []), ...columns.map((column) => printColumn(column, names))].join(', ')
}

function printColumn({ name, expression }: OutputColumn, names: readonly string[]): string {
  const text = printBound(expression, names)
  return text === name ? text : `${text} as ${isName(name) ? name : JSON.stringify(name)}`
}

function sortKeys(keys: readonly BoundSortKey[], names: readonly string[]): string {
  if (keys.length === 0) return 'newest first'
  return keys
    .map((key) => `${printBound(key.expression, names)} ${key.descending ? 'desc' : 'asc'}`)
    .join(', ')
}

function objects(bound: readonly BoundObject[]): string {
  return bound.map(({ type, id }) => `${type}(${id})`).join(', ')
}

function conditions(predicates: readonly BoundExpression[]): string {
  if (predicates.length === 0) return ''
  return ` where ${predicates.map((predicate) => printBound(predicate, [])).join(' and ')}`
}

function after(key: RowKey | undefined): string {
  return key ? ` after ${formatCursor(key)}` : ''
}

function list(texts: readonly string[]): string {
  const shown = texts.slice(0, 10).map((text) => JSON.stringify(text))
  return `[${shown.join(', ')}${texts.length > 10 ? `, … ${texts.length - 10} more` : ''}]`
}

/** `names` are those of the group columns. Every operator has its parentheses. */
export function printBound(node: BoundExpression, names: readonly string[]): string {
  const print = (child: BoundExpression): string => {
    const text = printBound(child, names)
    return isOperator(child) ? `(${text})` : text
  }
  switch (node.kind) {
    case 'constant':
      return printConstant(node.value)
    case 'timestamp':
      return `time '${formatTimestamp(new Timestamp(node.ms, node.microseconds))}'`
    case 'interval':
      return `interval '${formatInterval(new Interval(node.months, node.ms))}'`
    case 'field':
      return printPath(node.path)
    case 'group_column':
      return names[node.index] ?? `column ${node.index}`
    case 'access':
      return `${print(node.operand)}${printSteps(node.path)}`
    case 'in_traces':
      return `trace in traces ${node.set}`
    case 'call':
      return `${node.name}(${node.arguments.map((child) => printBound(child, names)).join(', ')})`
    case 'comparison':
      return `${print(node.left)} ${comparisonSymbols[node.operator]} ${print(node.right)}`
    case 'arithmetic':
      return `${print(node.left)} ${arithmeticSymbols[node.operator]} ${print(node.right)}`
    case 'negate':
      return `-${print(node.operand)}`
    case 'not':
      return `not ${print(node.operand)}`
    case 'and':
    case 'or':
      return node.operands.map(print).join(` ${node.kind} `)
    case 'is_null':
      return `${print(node.operand)} is null`
    case 'like':
      return `${print(node.operand)} ${node.caseInsensitive ? 'ilike' : 'like'} ${print(node.pattern)}`
    case 'includes':
      return `${print(node.haystack)} includes ${print(node.needle)}`
    case 'match':
      return `${print(node.operand)} match ${print(node.query)}`
    case 'in':
      return `${print(node.operand)} in ${print(node.list)}`
    case 'conditional': {
      const branches = node.branches.map((b) => `${print(b.condition)} ? ${print(b.result)} : `)
      return branches.join('') + print(node.otherwise)
    }
    case 'array':
      return `[${node.items.map((item) => printBound(item, names)).join(', ')}]`
    case 'object': {
      const members = node.entries.map(
        ([key, value]) => `${JSON.stringify(key)}: ${printBound(value, names)}`,
      )
      return `{${members.join(', ')}}`
    }
    default:
      return unreachable(node)
  }
}

function isOperator(node: BoundExpression): boolean {
  switch (node.kind) {
    case 'constant':
    case 'timestamp':
    case 'interval':
    case 'field':
    case 'group_column':
    case 'access':
    case 'in_traces':
    case 'call':
    case 'array':
    case 'object':
      return false
    default:
      return true
  }
}

function printConstant(value: ConstantValue): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) {
    const items = value as readonly ConstantValue[]
    const shown = items.slice(0, 10).map(printConstant)
    return `[${shown.join(', ')}${items.length > 10 ? `, … ${items.length - 10} more` : ''}]`
  }
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value)
  }
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item))
}

function printPath(path: Path): string {
  return printSteps(path).replace(/^\./, '')
}

function printSteps(path: Path): string {
  return path
    .map((part) =>
      typeof part === 'number' ? `[${part}]` : `.${isName(part) ? part : JSON.stringify(part)}`,
    )
    .join('')
}

/** Each line of a text two places further to the right. */
export function indented(text: string): string {
  return text.replace(/^/gm, '  ')
}
