/** Plans and bound expressions as text. */
import type {
  BoundAggregate,
  BoundExpression,
  BoundObject,
  BoundSortKey,
  ConstantValue,
  OutputColumn,
} from '../binder/bound.ts'
import { unreachable } from '../error.ts'
import { isName } from '../parser/character.ts'
import { arithmeticSymbols, comparisonSymbols } from '../parser/print.ts'
import { formatInterval, formatTimestamp } from '../type/time.ts'
import { formatCursor, type RowKey } from '../type/transaction.ts'
import { Interval, type Path } from '../type/value.ts'
import type { LogicalPlan } from './logical-plan.ts'
import type { PhysicalPlan } from './physical-plan.ts'

/** One node a line, inputs indented below. */
export function explainLogical(plan: LogicalPlan): string {
  const lines: string[] = []
  let node: LogicalPlan | undefined = plan
  // Keys and aggregates of the aggregation below, by which columns above it are printed.
  const names = groupNames(plan)
  while (node) {
    lines.push(`${'  '.repeat(lines.length)}${describe(node, names)}`)
    node = 'input' in node ? node.input : undefined
  }
  return lines.join('\n')
}

function groupNames(plan: LogicalPlan): readonly string[] {
  if (plan.kind === 'aggregate') return namesOf(plan.keys, plan.aggregates)
  return 'input' in plan ? groupNames(plan.input) : []
}

function namesOf(keys: readonly BoundExpression[], aggregates: readonly BoundAggregate[]) {
  return [...keys.map((key) => printBound(key, [])), ...aggregates.map(printAggregate)]
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
    case 'filter':
      return `Filter: ${printBound(node.predicate, names)}`
    case 'project':
      return `Project: ${projection(node.star, node.columns, names)}`
    case 'aggregate':
      return aggregation(node.keys, node.aggregates)
    case 'sort':
      return `Sort: ${sortKeys(node.keys, names)}`
    case 'limit':
      return `Limit: ${node.count ?? 'all'}${node.offset > 0 ? ` offset ${node.offset}` : ''}`
    case 'top_k': {
      const offset = node.offset > 0 ? ` offset ${node.offset}` : ''
      return `TopK: ${node.count}${offset} by ${sortKeys(node.keys, names)}`
    }
    default:
      return unreachable(node)
  }
}

/** The operators that the embedded engine runs, the last first. */
export function explainPhysical(plan: PhysicalPlan): string {
  const { stage, access } = plan
  const lines: string[] = []
  const names = stage.kind === 'groups' ? namesOf(stage.keys, stage.aggregates) : []
  const limit = plan.limit === undefined ? '' : ` limit ${plan.limit}`
  const offset = plan.offset > 0 ? ` offset ${plan.offset}` : ''
  if (stage.kind === 'groups') {
    const sort = plan.sort.length > 0 ? ` by ${sortKeys(plan.sort, names)}` : ''
    lines.push(`Print: ${projection(false, stage.columns, names)}`)
    lines.push(`Finish:${sort || ' by keys'}${limit}${offset}`)
    lines.push('MergeGroups')
    lines.push(`Partial${aggregation(stage.keys, stage.aggregates)}`)
  } else {
    lines.push(`Print: ${projection(stage.star, stage.columns, names)}`)
    const order = plan.sort.length > 0 ? sortKeys(plan.sort, names) : 'newest first'
    lines.push(`MergeRows: ${order}${limit}${offset}`)
  }
  switch (access.kind) {
    case 'empty':
      lines.push('Empty')
      break
    case 'look_up':
      lines.push(
        `LookUp: ${objects(plan.objects)} ids ${list(access.ids)}` +
          `${conditions(plan.predicates)}${after(plan.after)}`,
      )
      break
    case 'scan':
      lines.push(
        `Scan: ${objects(plan.objects)} [${plan.scannedFields.join(', ')}]` +
          `${conditions(plan.predicates)}${after(plan.after)}`,
      )
  }
  return lines.map((line, depth) => '  '.repeat(depth) + line).join('\n')
}

function aggregation(keys: readonly BoundExpression[], aggregates: readonly BoundAggregate[]) {
  const by = keys.length > 0 ? ` by ${keys.map((key) => printBound(key, [])).join(', ')}` : ''
  return `Aggregate: [${aggregates.map(printAggregate).join(', ')}]${by}`
}

function printAggregate({ name, argument, parameters }: BoundAggregate): string {
  const operands = [argument ? printBound(argument, []) : '*', ...parameters.map(String)]
  return `${name}(${operands.join(', ')})`
}

function projection(star: boolean, columns: readonly OutputColumn[], names: readonly string[]) {
  const printed = columns.map(({ name, expression }) => {
    const text = printBound(expression, names)
    return text === name ? text : `${text} as ${isName(name) ? name : JSON.stringify(name)}`
  })
  return [...(star ? ['*'] : []), ...printed].join(', ')
}

function sortKeys(keys: readonly BoundSortKey[], names: readonly string[]): string {
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
      return `time '${formatTimestamp(node.ms)}'`
    case 'interval':
      return `interval '${formatInterval(new Interval(node.months, node.ms))}'`
    case 'field':
      return printPath(node.path)
    case 'group_column':
      return names[node.index] ?? `column ${node.index}`
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
  return path
    .map((part, i) => {
      if (typeof part === 'number') return `[${part}]`
      const name = isName(part) ? part : JSON.stringify(part)
      return i === 0 ? name : `.${name}`
    })
    .join('')
}
