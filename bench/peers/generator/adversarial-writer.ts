/**
 * Rows that are as unlike a table as they may be: every path of metadata holds all types, there are
 * 5,000 further paths, some outputs are a million characters long, one field is always null, most
 * rows belong to one trace, and neither ids nor times come in order. Each version of the data has the
 * same records with other values.
 */
import { Random } from '../../../src/demo/random.ts'

export const mixedPaths = 10
export const rarePathCount = 5000
export const giantTrace = 'giant'
export const needle = 'needle in the hay'

const seed = 4711
const longEvery = 2500
const longOutput = 'hay '.repeat(250_000)
const firstTime = Date.UTC(2026, 0, 1)
const spreadMs = 30 * 86_400_000

export interface AdversarialRow {
  readonly id: string
  readonly root_span_id: string
  readonly created: string
  readonly output: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly metrics: { readonly v: number }
}

/** The rows of one version; any two versions have the same ids, traces and times, in this order. */
export function* adversarialRows(rows: number, version: number): Generator<AdversarialRow, void> {
  const fixed = new Random(seed)
  const changing = new Random(seed + version)
  for (let row = 0; row < rows; row++) {
    const id = fixed.uuid()
    yield {
      id,
      root_span_id: fixed.chance(0.7) ? giantTrace : id,
      // Distinct, since rows that tie in a sort would come in an order of their own.
      created: new Date(
        firstTime + fixed.below(spreadMs / 1000) * 1000 + (row % 1000),
      ).toISOString(),
      output: output(changing, row),
      metadata: metadata(changing),
      metrics: { v: version * 1000 + changing.below(1000) },
    }
  }
}

function output(random: Random, row: number): string {
  const hidden = random.chance(0.01) ? needle : ''
  return row % longEvery === 17 ? `${longOutput}${hidden}` : `short ${random.hex16()} ${hidden}`
}

function metadata(random: Random): Record<string, unknown> {
  const made: Record<string, unknown> = { nothing: null }
  for (let path = 0; path < mixedPaths; path++) made[`p${path}`] = mixed(random)
  for (let i = 0; i < 3; i++) made[`x_${random.below(rarePathCount)}`] = random.below(3)
  return made
}

function mixed(random: Random): unknown {
  switch (random.below(6)) {
    case 0:
      return random.pick(['a', 'b', '3'])
    case 1:
      return random.chance(0.5)
    case 2:
      return { level: random.below(3) }
    case 3:
      return [random.below(3), 'z']
    case 4:
      return null
    default:
      return random.below(6)
  }
}
