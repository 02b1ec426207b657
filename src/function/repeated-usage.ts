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

/** How a span may be found below another: at all, or without a tool between them. */
const ways = ['any', 'direct'] as const

/** Of scorers and of others, which do not pass on scorers' usage. */
const classes = 2

const shortTrace = 256

/** Spans that are noted for each way: with two of them, each span knows one that is another. */
const noted = 2

/**
 * The places of the spans that repeat what spans below them report, in ascending order.
 *
 * - A call of a model does not repeat what its tools have called in turn; all others repeat whatever is
 *   below them.
 * - What a scorer spends is its own: a span that is no scorer's does not repeat it.
 */
export function repeatedUsage(spans: readonly UsageSpan[]): number[] {
  if (spans.filter(({ reports }) => reports).length < 2) return []
  const parentsOf = parentFinder(spans)
  const below = new SpansBelow(spans.length)
  for (const [start, { reports, isScorer, isTool }] of spans.entries()) {
    if (!reports) continue
    const climb = parentsOf(start).map((place) => ({ place, isDirect: !isTool }))
    for (let next = climb.pop(); next; next = climb.pop()) {
      const { place, isDirect } = next
      const above = spans[place]!
      if (isScorer && !above.isScorer) continue
      // Each span is passed few times, also where the tree goes round in circles.
      if (!below.note(place, start, isScorer, isDirect)) continue
      const passesOn = isDirect && !above.isTool
      climb.push(...parentsOf(place).map((each) => ({ place: each, isDirect: passesOn })))
    }
  }
  return [...spans.keys()].filter((place) => {
    const { reports, isCall } = spans[place]!
    return reports && below.hasOther(place, isCall ? 'direct' : 'any')
  })
}

/** Spans of the same id, such as versions of one, are all parents of its children. */
function parentFinder(spans: readonly UsageSpan[]): (place: number) => number[] {
  const placesOf = new Map<number, number[]>()
  for (const [place, { span }] of spans.entries()) {
    const places = placesOf.get(span)
    if (places) places.push(place)
    else placesOf.set(span, [place])
  }
  return (place) => spans[place]!.parents.flatMap((parent) => placesOf.get(parent) ?? [])
}

/** The first spans that were found below each one. */
class SpansBelow {
  readonly #found: Int32Array | number[]

  constructor(count: number) {
    const length = count * classes * ways.length * noted
    // Most traces are short, and short typed arrays take longer to make.
    this.#found =
      count <= shortTrace ? new Array<number>(length).fill(-1) : new Int32Array(length).fill(-1)
  }

  /** Whether that tells something new. */
  note(place: number, found: number, isScorer: boolean, isDirect: boolean): boolean {
    let isNew = false
    for (const way of isDirect ? ways : (['any'] as const)) {
      const from = this.#first(place, isScorer, way)
      for (let i = from; i < from + noted && this.#found[i] !== found; i++) {
        if (this.#found[i] !== -1) continue
        this.#found[i] = found
        isNew = true
        break
      }
    }
    return isNew
  }

  hasOther(place: number, way: (typeof ways)[number]): boolean {
    return [false, true].some((isScorer) => {
      const from = this.#first(place, isScorer, way)
      for (let i = from; i < from + noted; i++) {
        const found = this.#found[i]!
        if (found >= 0 && found !== place) return true
      }
      return false
    })
  }

  #first(place: number, isScorer: boolean, way: (typeof ways)[number]): number {
    return ((place * classes + Number(isScorer)) * ways.length + ways.indexOf(way)) * noted
  }
}
