/** The aggregates, for the row oracle: each over plain lists of values. */
import {
  type Exact,
  meanOf,
  nearestDouble,
  nearestRoot,
  sumOf,
  varianceOf,
} from './exact-oracle.ts'
import { identity, isRecord, number, order, type Plain, text } from './oracle-value.ts'

const otherNames: Record<string, string> = {
  countif: 'count_if',
  approx_count_distinct: 'count_distinct',
  mean: 'avg',
  approx_percentile: 'percentile',
  quantile: 'percentile',
  stddev_samp: 'stddev',
  var_samp: 'variance',
  every: 'bool_and',
  group_concat: 'string_agg',
}

const aggregates = new Set([
  ...['count', 'count_if', 'count_distinct', 'sum', 'avg', 'min', 'max', 'any_value'],
  ...['first', 'last', 'mode', 'percentile', 'median', 'stddev', 'stddev_pop', 'variance'],
  ...['var_pop', 'bool_and', 'bool_or', 'array_agg', 'string_agg', 'sum_entries', 'avg_entries'],
  ...Object.keys(otherNames),
])

export function isAggregate(name: string): boolean {
  return aggregates.has(name)
}

/** @param rows the arguments of each row that counts: the value, and for some a second one */
export function aggregate(
  name: string,
  rows: readonly (readonly Plain[])[],
  distinct: boolean,
  parameter: Plain,
): Plain {
  const all = rows.map(([value = null]) => value).filter((value) => value !== null)
  const values = distinct
    ? [...new Map(all.map((value) => [identity(value), value])).values()]
    : all
  const numbers = values.map(exact).filter((value) => value !== null)
  const truths = values.filter((value) => typeof value === 'boolean')
  const sorted = values.toSorted(order)
  const canonical = otherNames[name] ?? name
  switch (canonical) {
    case 'count':
      return values.length
    case 'count_if':
      return values.filter((value) => value === true).length
    case 'count_distinct':
      return new Set(values.map(identity)).size
    case 'sum':
      return total(numbers)
    case 'avg':
      return mean(numbers)
    case 'min':
    case 'any_value':
      return sorted[0] ?? null
    case 'max':
      return sorted.at(-1) ?? null
    case 'first':
      return furthest(rows, (key, kept) => order(key, kept))
    case 'last':
      return furthest(rows, (key, kept) => order(kept, key))
    case 'mode': {
      const frequency = (value: Plain) =>
        values.filter((x) => identity(x) === identity(value)).length
      return sorted.toSorted((a, b) => frequency(b) - frequency(a))[0] ?? null
    }
    case 'median':
      return percentile(values, 0.5)
    case 'percentile':
      return percentile(values, Number(parameter))
    case 'variance':
    case 'var_pop':
    case 'stddev':
    case 'stddev_pop':
      return spread(numbers, canonical)
    case 'bool_and':
      return truths.length === 0 ? null : !truths.includes(false)
    case 'bool_or':
      return truths.length === 0 ? null : truths.includes(true)
    case 'array_agg':
      return sorted.length === 0 ? null : sorted
    case 'string_agg':
      return sorted.length === 0 ? null : sorted.map(text).join(text(parameter ?? ','))
    case 'sum_entries':
      return entries(values, total)
    case 'avg_entries':
      return entries(values, mean)
    default:
      throw new Error(`the oracle has no aggregate ${name}()`)
  }
}

function exact(value: Plain): Exact | null {
  return typeof value === 'bigint' ? value : number(value)
}

/** Sums of what is beyond doubles are unknown. */
function areFinite(numbers: readonly Exact[]): boolean {
  return numbers.every((value) => typeof value === 'bigint' || Number.isFinite(value))
}

function total(numbers: readonly Exact[]): number | null {
  return numbers.length > 0 && areFinite(numbers) ? nearestDouble(sumOf(numbers)) : null
}

function mean(numbers: readonly Exact[]): number | null {
  return numbers.length > 0 && areFinite(numbers) ? nearestDouble(meanOf(numbers)) : null
}

/** Rows without a key count only if there are no others; of equal keys the lowest value counts. */
function furthest(
  rows: readonly (readonly Plain[])[],
  compare: (key: Plain, kept: Plain) => number,
): Plain {
  const some = rows.filter(([value = null]) => value !== null)
  const keyed = some.filter(([, key = null]) => key !== null)
  const candidates = keyed.length > 0 ? keyed : some
  const best = candidates.toSorted(
    ([value, key = null], [otherValue, otherKey = null]) =>
      (key === null || otherKey === null ? 0 : compare(key, otherKey)) ||
      order(value!, otherValue!),
  )[0]
  return best?.[0] ?? null
}

function percentile(values: readonly Plain[], share: number): Plain {
  const numbers = values.filter((value) => typeof value !== 'boolean').map(number)
  const sorted = numbers.filter((value) => value !== null).toSorted((a, b) => a - b)
  if (sorted.length === 0) return null
  const rank = share * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!]
  return below + (above - below) * (rank - Math.floor(rank))
}

function spread(numbers: readonly Exact[], name: string): number | null {
  const fewer = name.endsWith('_pop') ? 0 : 1
  if (numbers.length <= fewer || !areFinite(numbers)) return null
  const variance = varianceOf(numbers, fewer)
  return name.startsWith('var') ? nearestDouble(variance) : nearestRoot(variance)
}

function entries(
  values: readonly Plain[],
  finish: (numbers: readonly Exact[]) => number | null,
): Plain {
  const byKey = new Map<string, Exact[]>()
  for (const value of values) {
    if (!isRecord(value)) continue
    for (const key of Object.keys(value)) {
      const entry = exact(value[key]!)
      if (entry !== null) byKey.set(key, [...(byKey.get(key) ?? []), entry])
    }
  }
  const finished = [...byKey].map(([key, numbers]) => [key, finish(numbers)] as const)
  const known = finished.filter(([, result]) => result !== null)
  return known.length === 0 ? null : Object.fromEntries(known)
}
