import type { Expression, Projection, Query, SortKey } from '../parser/ast.ts'
import { ExpressionBinder, type ExpressionContext } from './bind-expression.ts'
import type { BoundExpression, BoundOutput, BoundSortKey, OutputColumn } from './bound.ts'
import { aliasOf, checkUnique, columnByOrdinal, columnName, duplicateName } from './projection.ts'
import { structuralKey } from './rewrite.ts'
import type { Scope } from './scope.ts'

/** Binds what is shown of rows that are not grouped. */
export class RowBinder {
  readonly #scope: Scope
  readonly #binder: ExpressionBinder
  /** In the order of the text; those of a star are not among them. */
  readonly #selected: OutputColumn[] = []
  readonly #names = new Set<string>()
  /** Columns that go before the fields of a star. */
  readonly #replacing: OutputColumn[] = []
  #star = false

  constructor(scope: Scope, context: ExpressionContext) {
    this.#scope = scope
    this.#binder = new ExpressionBinder(scope, context)
  }

  /** Binds the columns; called first, because filters and sort keys may use their names. */
  bind({ select = [], weightedScores, customColumns }: Query): void {
    const columns = [...select, ...(customColumns ?? [])]
    for (const projection of columns) {
      if (projection.expression.kind === 'star') this.#addStar(projection)
      else this.#add(projection)
    }
    if (weightedScores) this.#addWeighted(weightedScores)
    for (const { name, expression } of this.#selected) this.#scope.addAlias(name, expression)
    if (this.#star) this.#checkClashes(columns)
  }

  condition(written: Expression): BoundExpression {
    return this.#binder.bind(written)
  }

  output(): BoundOutput {
    const selected = this.#selected.filter((column) => !(this.#star && this.#isField(column)))
    const names = new Set(selected.map(({ name }) => name))
    const columns = [...this.#replacing.filter(({ name }) => !names.has(name)), ...selected]
    return { kind: 'rows', star: this.#star, columns }
  }

  bindSort(keys: readonly SortKey[]): BoundSortKey[] {
    const bound = keys.map(({ expression, direction }) => ({
      expression:
        columnByOrdinal(expression, this.#selected) ??
        aliasOf(expression, this.#scope) ??
        this.#binder.bind(expression),
      descending: direction === 'desc',
    }))
    return isDefaultOrder(bound) ? [] : bound
  }

  #add(projection: Projection): void {
    const expression = this.#binder.bind(projection.expression)
    const name = columnName(projection)
    checkUnique(this.#names, name, projection)
    this.#selected.push({ name, expression })
  }

  #addStar(projection: Projection): void {
    const { expression } = projection
    const star = this.#scope.source.star()
    if (expression.kind !== 'star' || !star) return
    this.#star ||= star.fields
    this.#replacing.push(...star.columns)
    for (const replaced of expression.replace) this.#add(replaced)
  }

  /** One column with an object of them all. */
  #addWeighted(scores: readonly Projection[]): void {
    const entries = scores.map(
      (projection) => [columnName(projection), this.#binder.bind(projection.expression)] as const,
    )
    const expression: BoundExpression = { kind: 'object', entries, type: 'json' }
    this.#selected.push({ name: 'weighted_scores', expression })
  }

  /** A column beside a star may repeat a field, but not hide one, unless it says that it replaces it. */
  #checkClashes(projections: readonly Projection[]): void {
    const replaced = new Set(
      projections.flatMap(({ expression }) =>
        expression.kind === 'star' ? expression.replace.map(columnName) : [],
      ),
    )
    const clash = this.#selected.find(
      (column) =>
        !replaced.has(column.name) &&
        this.#scope.source.field([column.name]) !== undefined &&
        !this.#isField(column),
    )
    if (!clash) return
    const projection = projections.find(
      (candidate) => candidate.expression.kind !== 'star' && columnName(candidate) === clash.name,
    )
    if (projection) throw duplicateName(clash.name, projection)
  }

  /** Whether the column shows what `*` shows under its name. */
  #isField({ name, expression }: OutputColumn): boolean {
    const field = this.#scope.source.field([name])
    return field !== undefined && structuralKey(field) === structuralKey(expression)
  }
}

/** Newest first is what rows come in anyway. */
function isDefaultOrder(keys: readonly BoundSortKey[]): boolean {
  const [first] = keys
  if (first?.descending !== true || first.expression.kind !== 'field') return false
  const { path } = first.expression
  return path.length === 1 && path[0] === '_pagination_key'
}
