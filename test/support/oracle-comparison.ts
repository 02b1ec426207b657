/** Pairs of traces of several experiments that agree in a key, for the row oracle. */
import { type Item, step, withNames } from './oracle-row.ts'
import { identity, isRecord, kind, type Plain } from './oracle-value.ts'

/**
 * @param rows of the summary, newest first
 * @param keys one for each
 * @param objects the base first
 */
export function compared(
  rows: readonly Item[],
  keys: readonly Plain[],
  objects: readonly string[],
): Item[] {
  const [base, ...others] = objects
  const keyOf = new Map(rows.map((row, i) => [row, keys[i]!]))
  /** The k-th from the oldest is paired with the k-th. */
  const partner = (row: Item, object: string): Item | undefined => {
    const key = keyOf.get(row)!
    if (key === null) return undefined
    const alike = (of: string) =>
      rows
        .toReversed()
        .filter((other) => other.object === of && identity(keyOf.get(other)!) === identity(key))
    return alike(object)[alike(row.object!).indexOf(row)]
  }
  return rows.flatMap((row): Item[] => {
    const key = keyOf.get(row)!
    if (row.object !== base) return partner(row, base!) ? [] : [pair(row, undefined, row, key)]
    const partners = others.flatMap((object) => partner(row, object) ?? [])
    if (partners.length === 0) return [pair(row, row, undefined, key)]
    return partners.map((other) => pair(row, row, other, key))
  })
}

function pair(shown: Item, first: Item | undefined, other: Item | undefined, key: Plain): Item {
  const names: Record<string, Plain> = {
    comparison_key: key,
    experiment_id: first?.object ?? null,
    scores: first?.star.scores ?? null,
    metrics: first?.star.metrics ?? null,
    compared: other ? picked(other) : null,
    score_differences: differences(first, other, 'scores'),
    metric_differences: differences(first, other, 'metrics'),
  }
  const { span_type_info: _, ...fields } = shown.star
  return { ...withNames(shown, names), star: { ...fields, ...names } }
}

function picked(other: Item): Plain {
  const names = ['created', 'error', 'id', 'metrics', 'output', 'root_span_id', 'scores', 'tags']
  const values = names.map((name) => [name, other.star[name] ?? null] as const)
  const entries = [...values, ['experiment_id', other.object!] as const]
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function differences(first: Item | undefined, other: Item | undefined, name: string): Plain {
  if (!first || !other) return null
  const [base, compared] = [first.star[name]!, other.star[name]!]
  if (!isRecord(base) || !isRecord(compared)) return {}
  const both = Object.keys(base).filter(
    (key) => kind(base[key]!) === 'number' && kind(step(compared, [key])) === 'number',
  )
  return Object.fromEntries(both.map((key) => [key, Number(compared[key]) - Number(base[key])]))
}
