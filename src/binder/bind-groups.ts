import { AssayError } from '../error.ts'
import {
  type AggregateFunction,
  type AggregateName,
  aggregateFunction,
} from '../function/aggregate.ts'
import type { Expression, Pivot, Projection, SortKey } from '../parser/ast.ts'
import { childrenOf as astChildrenOf } from '../parser/children.ts'
import { printExpression } from '../parser/print.ts'
import {
  checkArgumentCount,
  ExpressionBinder,
  type ExpressionContext,
  resultType,
} from './bind-expression.ts'
import {
  type BoundAggregate,
  type BoundExpression,
  type BoundOutput,
  type BoundPivot,
  type BoundSortKey,
  type BoundUnpivot,
  type ConstantValue,
  childrenOf,
  hiddenField,
  type OutputColumn,
} from './bound.ts'
import { constantValue } from './evaluate.ts'
import { type Call, stepInto } from './field-source.ts'
import { type GroupingSets, groupingSetsOf } from './grouping-sets.ts'
import { checkUnique, columnByOrdinal, columnName } from './projection.ts'
import { mapChildren, structuralKey } from './rewrite.ts'
import type { Scope } from './scope.ts'

/** What is grouped by, and what is shown of each group. */
export interface Grouping {
  readonly dimensions: readonly Projection[]
  /** Shown after the dimensions; or, with `select`, empty. */
  readonly measures: readonly Projection[]
  /** All that is shown, when dimensions are not shown by themselves. */
  readonly select: readonly Projection[] | undefined
}

/** Stand for an aggregate and an output column until all keys are known; no text can name them. */
const aggregatePlace = '#aggregate'
const columnPlace = '#column'
const groupingPlace = '#grouping'

/** Aggregates for which equal values count once even without DISTINCT. */
const ignoresDuplicates: ReadonlySet<AggregateName> = new Set([
  'min',
  'max',
  'any_value',
  'count_distinct',
])

export interface PivotParts {
  readonly pivot: BoundPivot
  /** What is shown of the groups beside the columns that the pivot makes. */
  readonly columns: OutputColumn[]
}

/** Binds dimensions and measures, and what comes after grouping. */
export class GroupBinder {
  readonly #scope: Scope
  readonly #context: ExpressionContext
  readonly #rows: ExpressionBinder
  readonly #groups: ExpressionBinder
  /** Knows the names of aggregates too. */
  readonly #results: ExpressionBinder
  readonly #keys: BoundExpression[] = []
  readonly #keyIndexes = new Map<string, number>()
  /** Only nodes of these kinds are compared with keys. */
  readonly #keyKinds = new Set<BoundExpression['kind']>()
  readonly #aggregates: BoundAggregate[] = []
  readonly #aggregateIndexes = new Map<string, number>()
  readonly #columns: OutputColumn[] = []
  /** Output columns by name. */
  readonly #named = new Map<string, BoundExpression>()
  /** The place of the unpivot that makes a row for each grouping set. */
  readonly #expansionIndex: number
  /** Of several groupings at once, the indexes of the dimensions of each. */
  #sets: GroupingSets['sets']
  /** Where the keys of the dimensions are. */
  readonly #dimensionKeys: number[] = []

  /** @param unpivotCount how many unpivots rows have gone through */
  constructor(scope: Scope, context: ExpressionContext, unpivotCount: number) {
    this.#scope = scope
    this.#context = context
    this.#expansionIndex = unpivotCount
    this.#rows = new ExpressionBinder(scope, context)
    const aggregates = (call: Call) => this.#bindAggregate(call)
    const calls = (call: Call) => this.#bindGrouping(call)
    this.#groups = new ExpressionBinder(scope, context, { aggregates, calls })
    const names = (name: string) => this.#columnPlace(name)
    this.#results = new ExpressionBinder(scope, context, { aggregates, calls, names })
  }

  /** Binds the keys and columns; called first. */
  bind(grouping: Grouping): void {
    const { measures, select } = grouping
    const { dimensions, sets } = groupingSetsOf(grouping.dimensions)
    this.#sets = sets
    const names = new Set<string>()
    if (select) this.#addRowAliases(select)
    const bound = dimensions.map((projection) => this.#bindKey(projection, select))
    const keys = bound.map((key, i) => this.#addKey(key, i))
    if (sets) this.#keys.push(this.#setField)
    for (const [i, projection] of dimensions.entries()) {
      const name = columnName(projection)
      if (!select) {
        checkUnique(names, name, projection)
        this.#columns.push({ name, expression: keys[i]! })
        this.#named.set(name, keys[i]!)
      }
    }
    if (!select) {
      for (const [i, projection] of dimensions.entries()) {
        this.#scope.addAlias(columnName(projection), bound[i]!)
      }
    }
    for (const projection of select ?? measures) {
      if (projection.expression.kind === 'star') throw starInGroups(projection)
      const name = columnName(projection)
      checkUnique(names, name, projection)
      const expression = this.#over(projection.expression, this.#groups)
      this.#columns.push({ name, expression })
      this.#named.set(name, expression)
    }
  }

  /** Complete when everything over the groups is bound. */
  output(columns = this.#columns): BoundOutput {
    return {
      kind: 'groups',
      expansion: this.#expansion(),
      keys: this.#keys,
      aggregates: this.#aggregates,
      row: undefined,
      columns,
    }
  }

  /** @param pivot what is done to the groups before they are sorted */
  bindSort(keys: readonly SortKey[], pivot: PivotParts | undefined): BoundSortKey[] {
    const columns = pivot?.columns ?? this.#columns
    return keys.map((key) => {
      const { expression, direction } = key
      const bound =
        this.#column(expression) ??
        columnByOrdinal(expression, columns) ??
        this.#sortKey(expression, pivot !== undefined)
      if (pivot && this.#isGone(bound, pivot.pivot)) throw noColumnOfPivot(key)
      return { expression: bound, descending: direction === 'desc' }
    })
  }

  /** Of the groups' columns, a pivot leaves the keys that it does not turn. */
  #isGone(bound: BoundExpression, pivot: BoundPivot): boolean {
    if (bound.kind === 'group_column') {
      return bound.index === pivot.key || bound.index >= this.#keys.length
    }
    return childrenOf(bound).some((child) => this.#isGone(child, pivot))
  }

  /** HAVING: names of output columns go before fields. */
  bindFinalFilter(condition: Expression): BoundExpression {
    return this.#over(condition, this.#results)
  }

  bindPivot({ measures, key, span }: Pivot): PivotParts {
    const column = key
      ? this.#over(key, this.#groups)
      : ({ kind: 'group_column', index: this.#keys.length - 1, type: 'json' } as const)
    if (column.kind !== 'group_column' || column.index < 0 || column.index >= this.#keys.length) {
      throw new AssayError('BIND_INVALID_OPTION', 'pivot needs a dimension to make columns of', {
        span,
        hint: 'group by it: dimensions: metadata.model',
      })
    }
    const bound = measures.map((projection) => this.#pivoted(projection))
    const shown = this.#columns.filter(({ expression }) => {
      const isKey = expression.kind === 'group_column' && expression.index === column.index
      return !isKey && !usesAggregates(expression, this.#keys.length)
    })
    return { pivot: { key: column.index, measures: bound }, columns: shown }
  }

  /** A measure of a pivot: a column's name, or an aggregate that may be a column too. */
  #pivoted(projection: Projection): OutputColumn {
    const { expression, alias } = projection
    const bound = this.#column(expression) ?? this.#over(expression, this.#groups)
    const key = structuralKey(bound)
    const same = this.#columns.find((column) => structuralKey(column.expression) === key)
    return { name: alias ?? same?.name ?? columnName(projection), expression: bound }
  }

  /** In SQL, what is selected may be grouped by under its name. */
  #addRowAliases(select: readonly Projection[]): void {
    for (const projection of select) {
      const { expression } = projection
      if (expression.kind === 'star' || containsAggregate(expression)) continue
      this.#scope.addAlias(columnName(projection), this.#rows.bind(expression))
    }
  }

  #bindKey(projection: Projection, select: readonly Projection[] | undefined): BoundExpression {
    const { expression } = projection
    // Of `select distinct` the columns are the keys, and a number among them is itself.
    const mayBeOrdinal = select && !select.includes(projection)
    if (mayBeOrdinal && expression.kind === 'literal' && typeof expression.value === 'number') {
      const selected = select[expression.value - 1]
      if (selected) return this.#rows.bind(selected.expression)
      throw new AssayError(
        'BIND_INVALID_OPTION',
        `there is no output column ${expression.value} to group by`,
        {
          span: expression.span,
          hint: `a number counts the ${select.length} selected columns from 1`,
        },
      )
    }
    return this.#rows.bind(expression)
  }

  #sortKey(written: Expression, hasOtherColumns: boolean): BoundExpression {
    try {
      return this.#over(written, this.#results, 'BIND_INVALID_SORT')
    } catch (thrown) {
      // The columns that a pivot makes are known only when it has run.
      if (!hasOtherColumns || written.kind !== 'path' || written.parts.length > 1) throw thrown
      return { kind: 'field', path: written.parts, type: 'json' }
    }
  }

  #column(written: Expression): BoundExpression | undefined {
    if (written.kind !== 'path' || written.parts.length !== 1) return undefined
    return this.#named.get(String(written.parts[0]))
  }

  /** Names of columns that hold aggregates; the others are names of the rows too. */
  #columnPlace(name: string): BoundExpression | undefined {
    const index = this.#columns.findIndex((column) => column.name === name)
    const column = this.#columns[index]
    if (!column || !usesAggregates(column.expression, this.#keys.length)) return undefined
    return { kind: 'field', path: [columnPlace, index], type: column.expression.type }
  }

  #over(
    written: Expression,
    binder: ExpressionBinder,
    code: 'BIND_MISPLACED_AGGREGATE' | 'BIND_INVALID_SORT' = 'BIND_MISPLACED_AGGREGATE',
  ): BoundExpression {
    return this.#overGroups(binder.bind(written), written, code)
  }

  /** @param dimension which of them the key is of */
  #addKey(key: BoundExpression, dimension: number): BoundExpression {
    const text = structuralKey(key)
    let index = this.#keyIndexes.get(text)
    if (index === undefined) {
      index = this.#keys.push(this.#inItsSets(key, dimension)) - 1
      this.#keyIndexes.set(text, index)
      this.#keyKinds.add(key.kind)
    }
    this.#dimensionKeys.push(index)
    return { kind: 'group_column', index, type: key.type }
  }

  /** The number of the grouping set that a row was made for. */
  get #setField(): BoundExpression {
    const path = [hiddenField.unpivotValue(this.#expansionIndex)]
    return { kind: 'field', path, type: 'number' }
  }

  /** In sets that do not group by it, a key is null. */
  #inItsSets(key: BoundExpression, dimension: number): BoundExpression {
    const sets = this.#setsWith(dimension)
    if (!this.#sets || sets.length === this.#sets.length) return key
    return {
      kind: 'conditional',
      branches: [{ condition: isOneOf(this.#setField, sets), result: key }],
      otherwise: { kind: 'constant', value: null, type: 'json' },
      type: key.type,
    }
  }

  #setsWith(dimension: number): number[] {
    return (this.#sets ?? []).flatMap((set, i) => (set.has(dimension) ? [i] : []))
  }

  #expansion(): BoundUnpivot | undefined {
    if (!this.#sets) return undefined
    const value = this.#sets.map((_, i) => i)
    return {
      expression: { kind: 'constant', value, type: 'json' },
      index: this.#expansionIndex,
    }
  }

  /** `grouping(x)`: 1 in groups that are not by x, else 0. */
  #bindGrouping(call: Call): BoundExpression | undefined {
    const [only] = call.arguments
    if (call.name !== 'grouping' || !only || call.arguments.length > 1) return undefined
    const key = this.#keyIndexes.get(structuralKey(this.#rows.bind(only)))
    if (key === undefined) throw notGrouped(printExpression(only), only, 'BIND_MISPLACED_AGGREGATE')
    return {
      kind: 'field',
      path: [groupingPlace, this.#dimensionKeys.indexOf(key)],
      type: 'number',
    }
  }

  #groupingOf(dimension: number): BoundExpression {
    const number = (value: number): BoundExpression => ({ kind: 'constant', value, type: 'number' })
    if (!this.#sets) return number(0)
    const index = this.#keys.length - 1
    const set: BoundExpression = { kind: 'group_column', index, type: 'number' }
    const condition = isOneOf(set, this.#setsWith(dimension))
    return {
      kind: 'conditional',
      branches: [{ condition, result: number(0) }],
      otherwise: number(1),
      type: 'number',
    }
  }

  #bindAggregate(call: Call): BoundExpression {
    const definition = aggregateFunction(call.name)!
    checkArgumentCount(call, definition)
    const { name, distinct } = this.#distinct(call, definition)
    const written = call.arguments.filter(({ kind }) => kind !== 'star')
    const rowCount = definition.maxArguments - definition.constantArguments
    const operands = written.slice(0, rowCount).map((argument) => this.#rows.bind(argument))
    if (operands.length === 0 && name !== 'count') {
      throw new AssayError('BIND_WRONG_ARGUMENTS', `${call.name}() needs a field`, {
        span: call.span,
        hint: `for example ${definition.example[0]}`,
      })
    }
    const aggregate: BoundAggregate = {
      name,
      // Every row has a 1, so `count(1)` counts rows.
      arguments:
        name === 'count' && isNonNullConstant(operands[0])
          ? []
          : this.#completed(definition, operands),
      parameters: this.#parameters(call, written.slice(rowCount), definition),
      distinct,
      filter: call.filter && this.#rows.bind(call.filter),
      type: resultType(definition.result, operands.slice(0, 1)),
    }
    const key = structuralKey(aggregate)
    let index = this.#aggregateIndexes.get(key)
    if (index === undefined) {
      index = this.#aggregates.push(aggregate) - 1
      this.#aggregateIndexes.set(key, index)
    }
    return { kind: 'field', path: [aggregatePlace, index], type: aggregate.type }
  }

  /** Arguments that are not written are fields that the aggregate names: first is by created. */
  #completed(
    { defaultFields }: AggregateFunction,
    operands: readonly BoundExpression[],
  ): readonly BoundExpression[] {
    const missing = defaultFields.slice(Math.max(0, operands.length - 1))
    return [...operands, ...missing.flatMap((path) => this.#scope.source.field(path) ?? [])]
  }

  #distinct(
    call: Call,
    { name, distinct }: AggregateFunction,
  ): { name: AggregateName; distinct: boolean } {
    if (!call.distinct || ignoresDuplicates.has(name)) return { name, distinct: false }
    if (name === 'count') return { name: 'count_distinct', distinct: false }
    if (distinct) return { name, distinct }
    throw new AssayError('BIND_UNSUPPORTED', `${call.name}(DISTINCT …) is not supported`, {
      span: call.span,
      hint: 'count(DISTINCT …) is',
    })
  }

  #parameters(
    call: Call,
    nodes: readonly Expression[],
    definition: AggregateFunction,
  ): ConstantValue[] {
    const written = nodes.map((node) => constantValue(this.#rows.bind(node), this.#context) ?? null)
    const values = [...written, ...definition.defaultConstants.slice(written.length)]
    const problem = definition.checkConstants(values)
    if (problem === undefined) return values as ConstantValue[]
    throw new AssayError('BIND_WRONG_ARGUMENTS', `${call.name}(): ${problem}`, {
      span: call.span,
      hint: `for example ${definition.example[0]}`,
    })
  }

  /** Replaces what equals a dimension by its group column; nothing of single rows may remain. */
  #overGroups(
    bound: BoundExpression,
    written: Expression,
    code: 'BIND_MISPLACED_AGGREGATE' | 'BIND_INVALID_SORT',
  ): BoundExpression {
    const replace = (node: BoundExpression): BoundExpression => {
      const key = this.#keyKinds.has(node.kind)
        ? this.#keyIndexes.get(structuralKey(node))
        : undefined
      if (key !== undefined) return { kind: 'group_column', index: key, type: node.type }
      if (node.kind === 'field' && node.path[0] === aggregatePlace) {
        const index = this.#keys.length + Number(node.path[1])
        return { kind: 'group_column', index, type: node.type }
      }
      if (node.kind === 'field' && node.path[0] === groupingPlace) {
        return this.#groupingOf(Number(node.path[1]))
      }
      if (node.kind === 'field' && node.path[0] === columnPlace) {
        const [, index, ...rest] = node.path
        return stepInto(this.#columns[Number(index)]!.expression, rest)
      }
      if (node.kind === 'field') throw notGrouped(node.path.join('.'), written, code)
      if (node.kind === 'group_column') throw notGrouped(printExpression(written), written, code)
      return mapChildren(node, replace)
    }
    return replace(bound)
  }
}

/** Whether the expression says something of groups, not of rows. */
export function containsAggregate(node: Expression): boolean {
  if (node.kind === 'call' && (aggregateFunction(node.name) || node.name === 'grouping'))
    return true
  return astChildrenOf(node).some(containsAggregate)
}

function notGrouped(
  field: string,
  written: Expression,
  code: 'BIND_MISPLACED_AGGREGATE' | 'BIND_INVALID_SORT',
): AssayError {
  return new AssayError(code, `the field ${field} is neither a dimension nor inside an aggregate`, {
    span: written.span,
    hint: `add it to dimensions, or aggregate it: max(${field})`,
  })
}

function isOneOf(operand: BoundExpression, sets: readonly number[]): BoundExpression {
  return {
    kind: 'in',
    operand,
    list: { kind: 'constant', value: sets, type: 'json' },
    type: 'boolean',
  }
}

function noColumnOfPivot({ span }: SortKey): AssayError {
  return new AssayError('BIND_INVALID_SORT', 'a pivot has turned what this sorts by into columns', {
    span,
    hint: 'name one of its columns, such as `gpt-4_count`, or another dimension',
  })
}

function starInGroups(projection: Projection): AssayError {
  return new AssayError('BIND_UNSUPPORTED', 'groups have no fields that "*" could stand for', {
    span: projection.span,
    hint: 'select the dimensions, and aggregates such as count(*)',
  })
}

function usesAggregates(node: BoundExpression, keyCount: number): boolean {
  if (node.kind === 'group_column') return node.index >= keyCount
  return childrenOf(node).some((child) => usesAggregates(child, keyCount))
}

function isNonNullConstant(node: BoundExpression | undefined): boolean {
  return node?.kind === 'constant' && node.value !== null
}
