/** How far reviewers agree who have answered the same of the same records. */

/** What one reviewer said of one record. */
export interface Rating<Value> {
  readonly record: string
  readonly reviewer: string
  readonly value: Value
}

export interface CategoryAgreement {
  readonly kind: 'category'
  /** Records that two or more have answered. */
  readonly records: number
  readonly reviewers: number
  /** Pairs of answers that are the same, from 0 to 1, each record counting alike. */
  readonly share: number
  /**
   * Agreement beyond chance: Cohen's for two reviewers, Fleiss' for more. Undefined where all have said
   * the same of everything, since chance would have agreed as well.
   */
  readonly kappa: number | undefined
}

export interface SliderAgreement {
  readonly kind: 'slider'
  readonly records: number
  readonly reviewers: number
  /** Of pairs of answers, each record counting alike. */
  readonly meanDifference: number
}

/** Undefined while no record has two answers. */
export function categoryAgreement(
  ratings: readonly Rating<string>[],
): CategoryAgreement | undefined {
  const shared = sharedOf(ratings)
  if (shared.length === 0) return undefined
  const reviewers = new Set(shared.flat().map(({ reviewer }) => reviewer))
  const share = mean(shared.map((some) => meanOfPairs(some, (a, b) => (a === b ? 1 : 0))))
  const byChance = reviewers.size === 2 ? cohenChance(shared) : fleissChance(shared)
  const kappa = byChance === 1 ? undefined : (share - byChance) / (1 - byChance)
  return { kind: 'category', records: shared.length, reviewers: reviewers.size, share, kappa }
}

/** Undefined while no record has two answers. */
export function sliderAgreement(ratings: readonly Rating<number>[]): SliderAgreement | undefined {
  const shared = sharedOf(ratings)
  if (shared.length === 0) return undefined
  const reviewers = new Set(shared.flat().map(({ reviewer }) => reviewer))
  const meanDifference = mean(shared.map((some) => meanOfPairs(some, (a, b) => Math.abs(a - b))))
  return { kind: 'slider', records: shared.length, reviewers: reviewers.size, meanDifference }
}

/** The ratings of each record that has more than one. */
function sharedOf<Value>(ratings: readonly Rating<Value>[]): Rating<Value>[][] {
  const byRecord = groupedBy(ratings, ({ record }) => record)
  return [...byRecord.values()].filter((some) => some.length > 1)
}

function meanOfPairs<Value>(
  ratings: readonly Rating<Value>[],
  compare: (a: Value, b: Value) => number,
): number {
  const pairs = ratings.flatMap((a, i) =>
    ratings.slice(i + 1).map((b) => compare(a.value, b.value)),
  )
  return mean(pairs)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length
}

/** Each of the two answers by its own habits. */
function cohenChance(shared: readonly (readonly Rating<string>[])[]): number {
  const [one = [], other = []] = groupedBy(shared.flat(), ({ reviewer }) => reviewer).values()
  const [ofOne, ofOther] = [sharesOf(one), sharesOf(other)]
  return [...ofOne].reduce((sum, [value, share]) => sum + share * (ofOther.get(value) ?? 0), 0)
}

/** All answer by the habits of all; of a record with more answers each counts for less. */
function fleissChance(shared: readonly (readonly Rating<string>[])[]): number {
  const sums = new Map<string, number>()
  for (const some of shared) {
    for (const [value, share] of sharesOf(some)) sums.set(value, (sums.get(value) ?? 0) + share)
  }
  return [...sums.values()].reduce((sum, each) => sum + (each / shared.length) ** 2, 0)
}

function sharesOf(ratings: readonly Rating<string>[]): ReadonlyMap<string, number> {
  const byValue = groupedBy(ratings, ({ value }) => value)
  return new Map([...byValue].map(([value, some]) => [value, some.length / ratings.length]))
}

export function groupedBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
