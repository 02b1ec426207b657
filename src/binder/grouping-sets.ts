/** Several groupings at once: what `rollup`, `cube` and `grouping_sets` among the dimensions mean. */
import { AssayError } from '../error.ts'
import type { Expression, Projection } from '../parser/ast.ts'
import { isGroupingCall } from '../parser/grouping-function.ts'
import { printExpression } from '../parser/print.ts'

export interface GroupingSets {
  /** Each once. */
  readonly dimensions: readonly Projection[]
  /** Indexes of the dimensions that each set groups by; undefined: one set, of all. */
  readonly sets: readonly ReadonlySet<number>[] | undefined
}

/** Every row counts once in each set. */
const maximumSets = 64

export function groupingSetsOf(given: readonly Projection[]): GroupingSets {
  if (!given.some(({ expression }) => isGroupingCall(expression))) {
    return { dimensions: given, sets: undefined }
  }
  const dimensions: Projection[] = []
  const places = new Map<string, number>()
  const placeOf = (projection: Projection): number => {
    const text = printExpression(projection.expression)
    let place = places.get(text)
    if (place === undefined) {
      place = dimensions.push(projection) - 1
      places.set(text, place)
    }
    return place
  }
  // Sets of several dimensions combine: `a, rollup(b)` groups by (a, b) and by (a).
  let sets: readonly (readonly number[])[] = [[]]
  for (const projection of given) {
    const found = setsOf(projection, placeOf)
    if (sets.length * found.length > maximumSets) throw tooMany(projection)
    sets = sets.flatMap((before) => found.map((set) => [...before, ...set]))
  }
  return { dimensions, sets: sets.map((set) => new Set(set)) }
}

function setsOf(
  projection: Projection,
  placeOf: (projection: Projection) => number,
): readonly (readonly number[])[] {
  const { expression } = projection
  if (!isGroupingCall(expression)) return [[placeOf(projection)]]
  const ofItem = (item: Expression) =>
    placeOf({ expression: item, alias: undefined, span: item.span })
  const items = expression.arguments
  switch (expression.name) {
    case 'rollup': {
      const all = items.map(ofItem)
      return [...all.map((_, i) => all.slice(0, all.length - i)), []]
    }
    case 'cube': {
      if (2 ** items.length > maximumSets) throw tooMany(projection)
      const all = items.map(ofItem)
      return Array.from({ length: 2 ** all.length }, (_, left) =>
        all.filter((_item, i) => (left & (1 << i)) === 0),
      )
    }
    default:
      return items.map((item) => (item.kind === 'array' ? item.items.map(ofItem) : [ofItem(item)]))
  }
}

function tooMany({ span }: Projection): AssayError {
  return new AssayError('BIND_INVALID_OPTION', `more than ${maximumSets} grouping sets`, {
    span,
    hint: 'name those that you need: grouping_sets([a, b], [a], [])',
  })
}
