/**
 * Which spans of a trace repeat the usage of others. Agents, frameworks and wrappers of clients report
 * the sums of the calls below them, and so does a call whose client is instrumented, too: added up, each
 * call would count twice and more. Only the tree tells: a span whose children report nothing, or have
 * not come yet, is the only one that knows.
 */

/** A span of a trace, by what decides whose usage counts. */
export interface UsageSpan {
  /** Tells spans of the trace apart. */
  readonly span: number
  readonly parents: readonly number[]
  /** Whether it has tokens or a cost. */
  readonly reports: boolean
  /** Whether it says of itself that it is one call of a model. */
  readonly isCall: boolean
  readonly isTool: boolean
  readonly isScorer: boolean
}

/** What is known of a span: some span below it reports; one does without a tool between them. */
const [below, belowDirectly] = [1, 2]

/**
 * The places of the spans that repeat what spans below them report, in ascending order.
 *
 * - A call of a model does not repeat what its tools have called in turn; all others repeat whatever is
 *   below them.
 * - What a scorer spends is its own: a span that is no scorer's does not repeat it.
 */
export function repeatedUsage(spans: readonly UsageSpan[]): number[] {
  if (spans.filter(({ reports }) => reports).length < 2) return []
  const placesOf = new Map<number, number[]>()
  for (const [place, { span }] of spans.entries()) {
    const places = placesOf.get(span)
    if (places) places.push(place)
    else placesOf.set(span, [place])
  }
  const known = new Uint8Array(spans.length)
  const parentsOf = (place: number) =>
    spans[place]!.parents.flatMap((parent) => placesOf.get(parent) ?? [])
  for (const [start, { reports, isScorer, isTool }] of spans.entries()) {
    if (!reports) continue
    const climb = parentsOf(start).map((place) => ({ place, isDirect: !isTool }))
    for (let next = climb.pop(); next; next = climb.pop()) {
      const { place, isDirect } = next
      const above = spans[place]!
      const found = isDirect ? below | belowDirectly : below
      // A cycle ends here, too.
      if (place === start || (known[place]! & found) === found) continue
      if (isScorer && !above.isScorer) continue
      known[place]! |= found
      const passesOn = isDirect && !above.isTool
      climb.push(...parentsOf(place).map((each) => ({ place: each, isDirect: passesOn })))
    }
  }
  return [...spans.keys()].filter((place) => {
    const { reports, isCall } = spans[place]!
    return reports && (known[place]! & (isCall ? belowDirectly : below)) !== 0
  })
}
