import { AssayError } from '../error.ts'
import {
  type AggregateFunction,
  type AggregateName,
  aggregateFunction,
} from '../function/aggregate.ts'
import type { Expression, Projection, SortKey } from '../parser/ast.ts'
import { checkArgumentCount, ExpressionBinder, resultType } from './bind-expression.ts'
import {
  type BoundAggregate,
  type BoundExpression,
  type BoundOutput,
  type BoundSortKey,
  childrenOf,
  type OutputColumn,
} from './bound.ts'
import { constantValue, type EvaluationContext } from './evaluate.ts'
import { aliasOf, checkUnique, columnByOrdinal, columnName, type Grouping } from './projection.ts'
import { mapChildren, structuralKey } from './rewrite.ts'
import type { Scope } from './scope.ts'

type Call = Extract<Expression, { kind: 'call' }>

/** Binds dimensions and measures, and the sort keys over them. */
export class GroupBinder {
  readonly #scope: Scope
  readonly #context: EvaluationContext
  readonly #keys: BoundExpression[] = []
  readonly #keyIndexes = new Map<string, number>()
  readonly #aggregates: BoundAggregate[] = []
  readonly #aggregateIndexes = new Map<string, number>()

  constructor(scope: Scope, context: EvaluationContext) {
    this.#scope = scope
    this.#context = context
  }

  bind(
    { dimensions, measures }: Grouping,
    sortKeys: readonly SortKey[],
  ): { output: BoundOutput; sort: BoundSortKey[] } {
    const names = new Set<string>()
    const columns: OutputColumn[] = []
    const rowBinder = new ExpressionBinder(this.#scope, this.#context)
    const aliases: [string, BoundExpression][] = []
    for (const projection of dimensions) {
      const key = rowBinder.bind(projection.expression)
      const name = columnName(projection)
      checkUnique(names, name, projection)
      columns.push({ name, expression: this.#addKey(key) })
      aliases.push([name, key])
    }
    for (const [name, key] of aliases) this.#scope.addAlias(name, key)

    const groupBinder = new ExpressionBinder(this.#scope, this.#context, (call) =>
      this.#bindAggregate(call, rowBinder),
    )
    const measured = new Map<string, BoundExpression>()
    for (const projection of measures) {
      const expression = this.#overGroups(
        groupBinder.bind(projection.expression),
        projection,
        'BIND_MISPLACED_AGGREGATE',
      )
      const name = columnName(projection)
      checkUnique(names, name, projection)
      columns.push({ name, expression })
      measured.set(name, expression)
    }
    const sort = sortKeys.map((key) => this.#bindSort(key, columns, measured, groupBinder))
    return {
      output: { kind: 'groups', keys: this.#keys, aggregates: this.#aggregates, columns },
      sort,
    }
  }

  #bindSort(
    key: SortKey,
    columns: readonly OutputColumn[],
    measured: ReadonlyMap<string, BoundExpression>,
    binder: ExpressionBinder,
  ): BoundSortKey {
    const { expression, direction } = key
    const named =
      expression.kind === 'path' && expression.parts.length === 1
        ? measured.get(String(expression.parts[0]))
        : undefined
    const bound =
      named ??
      columnByOrdinal(expression, columns) ??
      this.#overGroups(
        aliasOf(expression, this.#scope) ?? binder.bind(expression),
        key,
        'BIND_INVALID_SORT',
      )
    return { expression: bound, descending: direction === 'desc' }
  }

  #addKey(key: BoundExpression): BoundExpression {
    const text = structuralKey(key)
    let index = this.#keyIndexes.get(text)
    if (index === undefined) {
      index = this.#keys.length
      this.#keyIndexes.set(text, index)
      this.#keys.push(key)
    }
    return { kind: 'group_column', index, type: key.type }
  }

  #bindAggregate(call: Call, rowBinder: ExpressionBinder): BoundExpression {
    const definition = aggregateFunction(call.name)!
    checkArgumentCount(call, definition)
    const name = call.distinct ? this.#distinct(call, definition.name) : definition.name
    const [first, ...rest] = call.arguments
    const argument =
      first === undefined || first.kind === 'star' ? undefined : rowBinder.bind(first)
    if (argument === undefined && name !== 'count') {
      throw new AssayError('BIND_WRONG_ARGUMENTS', `${call.name}() needs a field`, {
        span: call.span,
        hint: `for example ${call.name}(scores.Factuality)`,
      })
    }
    const aggregate: BoundAggregate = {
      name,
      // Every row has a 1, so `count(1)` counts rows.
      argument: name === 'count' && isNonNullConstant(argument) ? undefined : argument,
      parameters: this.#parameters(call, rest, definition, rowBinder),
      type: resultType(definition.result, argument ? [argument] : []),
    }
    const key = structuralKey(aggregate)
    let index = this.#aggregateIndexes.get(key)
    if (index === undefined) {
      index = this.#aggregates.length
      this.#aggregateIndexes.set(key, index)
      this.#aggregates.push(aggregate)
    }
    // Keys are all known before the first measure is bound.
    return { kind: 'group_column', index: this.#keys.length + index, type: aggregate.type }
  }

  #distinct(call: Call, name: AggregateName): AggregateName {
    if (name === 'count') return 'count_distinct'
    if (name === 'min' || name === 'max' || name === 'count_distinct') return name
    throw new AssayError('BIND_UNSUPPORTED', `${call.name}(DISTINCT …) is not supported`, {
      span: call.span,
      hint: 'count(DISTINCT …) is',
    })
  }

  #parameters(
    call: Call,
    nodes: readonly Expression[],
    definition: AggregateFunction,
    binder: ExpressionBinder,
  ): number[] {
    if (definition.name === 'median') return [0.5]
    const values = nodes.map((node) => constantValue(binder.bind(node), this.#context) ?? null)
    const problem = definition.checkConstants(values)
    if (problem === undefined) return values.map(Number)
    throw new AssayError('BIND_WRONG_ARGUMENTS', `${call.name}(): ${problem}`, {
      span: call.span,
      hint: `for example ${definition.example}`,
    })
  }

  /** Replaces what equals a dimension by its group column; nothing of single rows may remain. */
  #overGroups(
    bound: BoundExpression,
    { expression: written }: Projection | SortKey,
    code: 'BIND_MISPLACED_AGGREGATE' | 'BIND_INVALID_SORT',
  ): BoundExpression {
    const replace = (node: BoundExpression): BoundExpression => {
      const index = this.#keyIndexes.get(structuralKey(node))
      if (index !== undefined) return { kind: 'group_column', index, type: node.type }
      return mapChildren(node, replace)
    }
    const replaced = replace(bound)
    const field = findField(replaced)
    if (!field) return replaced
    throw new AssayError(
      code,
      `the field ${field} is neither a dimension nor inside an aggregate`,
      {
        span: written.span,
        hint: `add it to dimensions, or aggregate it: max(${field})`,
      },
    )
  }
}

function findField(node: BoundExpression): string | undefined {
  if (node.kind === 'field') return node.path.join('.')
  for (const child of childrenOf(node)) {
    const found = findField(child)
    if (found !== undefined) return found
  }
  return undefined
}

function isNonNullConstant(node: BoundExpression | undefined): boolean {
  return node?.kind === 'constant' && node.value !== null
}
