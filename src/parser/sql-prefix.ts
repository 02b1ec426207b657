import { AssayError } from '../error.ts'
import type { Expression, Projection, Query } from './ast.ts'
import { childrenOf } from './children.ts'
import { printPath } from './print.ts'
import { shorten } from './token.ts'

/**
 * The faults of fields that are written with the name of the source before them, as `t.x` beside
 * `from (…) as t`: there is one source, and its fields are named without it.
 */
export function prefixFaults(query: Query, sourceName: string): readonly AssayError[] {
  if (query.from?.kind === 'subquery' && hasColumn(query.from.query, sourceName)) return []
  const faults: AssayError[] = []
  const rest: Expression[] = [...expressionsOf(query)].reverse()
  for (;;) {
    const expression = rest.pop()
    if (expression === undefined) return faults
    if (expression.kind === 'path') {
      const [first, ...others] = expression.parts
      if (first !== sourceName || others.length === 0 || typeof others[0] !== 'string') continue
      faults.push(
        new AssayError('BIND_UNKNOWN_FIELD', `"${shorten(sourceName)}" is the source's name`, {
          span: expression.span,
          hint: `fields are named without it: ${shorten(printPath(others))}`,
        }),
      )
    } else {
      rest.push(...[...childrenOf(expression)].reverse())
    }
  }
}

/** Whether a field of the query's own answer has the name. */
function hasColumn({ select, dimensions, measures }: Query, name: string): boolean {
  return [select, dimensions, measures].some((projections) =>
    projections?.some(
      ({ alias, expression }) =>
        expression.kind === 'star' ||
        (alias ?? (expression.kind === 'path' ? expression.parts.at(-1) : undefined)) === name,
    ),
  )
}

function expressionsOf(query: Query): readonly Expression[] {
  const lists: readonly (readonly Projection[] | undefined)[] = [
    query.select,
    query.dimensions,
    query.pivot?.measures,
    query.finalDimensions,
    query.finalMeasures,
    query.weightedScores,
    query.customColumns,
  ]
  const single = [
    query.pivot?.key,
    query.filter,
    query.spanFilter,
    query.traceFilter,
    query.finalFilter,
    query.comparisonKey,
  ]
  return [
    ...lists.flatMap((list) => list?.map(({ expression }) => expression) ?? []),
    ...(query.unpivot ?? []).map(({ expression }) => expression),
    ...(query.infer ?? []),
    ...single.filter((expression) => expression !== undefined),
    ...(query.sort ?? []).map(({ expression }) => expression),
  ]
}
