/**
 * What the metadata of segments knows of an aggregate over all rows of a granule, or of a segment.
 *
 * | aggregate                        | is known when                                          |
 * | -------------------------------- | ------------------------------------------------------ |
 * | `count(1)`                       | always                                                 |
 * | `count(field)`                   | every row has a value, or its numbers and times are    |
 * |                                  | counted and it has nothing else; of a whole segment    |
 * |                                  | always                                                 |
 * | `count(1)` of rows that pass     | like `count(field)`                                    |
 * | `field is null`, or its negation |                                                        |
 * | `sum(field)`, `avg(field)`       | the field has numbers alone                            |
 * | `min(field)`, `max(field)`       | the field has numbers or times alone                   |
 *
 * Of a field that has no value at all, everything is.
 */
import type { BoundAggregate, BoundExpression } from '../../binder/bound.ts'
import type { Path } from '../../type/value.ts'
import { createAggregateState } from '../aggregate/create.ts'
import type { WireState } from '../aggregate/wire-state.ts'
import type { Zones } from '../scan/zones.ts'

/** Rows of the granule that is asked about, or of the segment. */
export interface KnownRows {
  /** Undefined: nothing is known of them but how many they are. */
  readonly zones: Zones | undefined
  readonly rowCount: number
  /** Whether they are all rows of it. */
  readonly isWhole: boolean
}

/** Collects what is known, part by part; merging it is left to the aggregate's own state. */
export interface KnownAggregate {
  isKnown(rows: KnownRows): boolean
  /** Takes in rows of which it is known. */
  take(rows: KnownRows): void
  toWire(): WireState
}

/** Undefined when metadata never knows the aggregate. */
export function knownAggregate(aggregate: BoundAggregate): KnownAggregate | undefined {
  const { name, arguments: operands, distinct, filter } = aggregate
  if (filter || (distinct && name !== 'min' && name !== 'max')) return undefined
  const [operand] = operands
  if (!operand) return name === 'count' ? new KnownCount('all') : undefined
  if (operand.kind !== 'field') return undefined
  switch (name) {
    case 'count':
      return new KnownCount('present', operand.path)
    case 'sum':
    case 'avg':
      return new KnownSum(aggregate, operand.path)
    case 'min':
    case 'max':
      return new KnownExtreme(aggregate, operand.path)
    default:
      return undefined
  }
}

/** The same for rows that pass one predicate and no other. */
export function knownAggregateOf(
  aggregate: BoundAggregate,
  predicate: BoundExpression,
): KnownAggregate | undefined {
  const { name, arguments: operands, distinct, filter } = aggregate
  if (name !== 'count' || operands.length > 0 || distinct || filter) return undefined
  const test = predicate.kind === 'not' ? predicate.operand : predicate
  if (test.kind !== 'is_null' || test.operand.kind !== 'field') return undefined
  return new KnownCount(test === predicate ? 'absent' : 'present', test.operand.path)
}

class KnownCount implements KnownAggregate {
  readonly #counted: 'all' | 'present' | 'absent'
  readonly #path: Path
  #count = 0

  /** @param counted all rows, or those that have a value at the path, or that have none */
  constructor(counted: 'all' | 'present' | 'absent', path: Path = []) {
    this.#counted = counted
    this.#path = path
  }

  isKnown(rows: KnownRows): boolean {
    return this.#countOf(rows) !== undefined
  }

  take(rows: KnownRows): void {
    this.#count += this.#countOf(rows)!
  }

  toWire(): WireState {
    return { kind: 'counts', counts: Float64Array.of(this.#count) }
  }

  #countOf(rows: KnownRows): number | undefined {
    if (this.#counted === 'all') return rows.rowCount
    const present = this.#presentOf(rows)
    return present === undefined || this.#counted === 'present' ? present : rows.rowCount - present
  }

  #presentOf({ zones, rowCount, isWhole }: KnownRows): number | undefined {
    if (!zones) return undefined
    if (!zones.mayHoldNull(this.#path)) return rowCount
    if (!zones.mayHoldAnything(this.#path)) return 0
    return isWhole ? zones.countOf(this.#path) : undefined
  }
}

class KnownSum implements KnownAggregate {
  readonly #aggregate: BoundAggregate
  readonly #path: Path
  readonly #sums: number[] = []
  readonly #rests: number[] = []
  readonly #counts: number[] = []

  constructor(aggregate: BoundAggregate, path: Path) {
    this.#aggregate = aggregate
    this.#path = path
  }

  isKnown({ zones, isWhole }: KnownRows): boolean {
    if (!zones) return false
    if (!zones.mayHoldAnything(this.#path)) return true
    return isWhole && zones.sumOf(this.#path) !== undefined
  }

  take({ zones }: KnownRows): void {
    const known = zones?.sumOf(this.#path)
    if (!known) return
    this.#sums.push(known.sum)
    this.#rests.push(known.rest)
    this.#counts.push(known.count)
  }

  toWire(): WireState {
    const sums = Float64Array.from(this.#sums)
    const rests = Float64Array.from(this.#rests)
    const counts = Float64Array.from(this.#counts)
    const units = { places: [], sums: [] }
    return merged(this.#aggregate, [{ kind: 'sums', sums: { sums, rests, counts, units } }])
  }
}

class KnownExtreme implements KnownAggregate {
  readonly #aggregate: BoundAggregate
  readonly #path: Path
  readonly #values = { number: [] as number[], timestamp: [] as number[] }

  constructor(aggregate: BoundAggregate, path: Path) {
    this.#aggregate = aggregate
    this.#path = path
  }

  isKnown({ zones, isWhole }: KnownRows): boolean {
    if (!zones) return false
    if (!zones.mayHoldAnything(this.#path)) return true
    return isWhole && kinds.some((kind) => zones.onlyBounds(this.#path, kind))
  }

  take({ zones }: KnownRows): void {
    if (!zones?.mayHoldAnything(this.#path)) return
    for (const kind of kinds) {
      const bounds = zones.onlyBounds(this.#path, kind)
      if (!bounds) continue
      const { minimum, maximum = minimum } = bounds
      this.#values[kind].push(this.#aggregate.name === 'min' ? minimum : maximum)
    }
  }

  toWire(): WireState {
    const found = kinds.filter((kind) => this.#values[kind].length > 0)
    const states = found.map((type): WireState => {
      return { kind: 'extremes', type, values: Float64Array.from(this.#values[type]) }
    })
    return merged(this.#aggregate, states)
  }
}

const kinds = ['number', 'timestamp'] as const

/** The state of the one group that all of these are of, whose arrays may be of any length. */
function merged(aggregate: BoundAggregate, parts: readonly WireState[]): WireState {
  const state = createAggregateState(aggregate)
  state.resize(1)
  for (const part of parts) {
    if (part.kind === 'sums') state.merge(part, new Int32Array(part.sums.sums.length))
    if (part.kind === 'extremes') state.merge(part, new Int32Array(part.values.length))
  }
  return state.toWire(1)
}
