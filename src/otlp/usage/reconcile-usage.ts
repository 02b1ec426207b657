/** From counts as a span has them to counts that mean the same whatever it was sent by. */
import type { CountRole } from './usage-role.ts'

export type UsageCounts = { readonly [role in CountRole]?: number | undefined }

/** Whether counts of parts are within those of the prompt and of the completion, where counts do not tell. */
export interface UsageHint {
  /** Tokens read from and written to a cache. */
  readonly cacheIsApart: boolean
  readonly reasoningIsApart: boolean
}

export interface ReconciledUsage {
  /** With what was read from and written to a cache. */
  readonly prompt: number | undefined
  /** With what was reasoned. */
  readonly completion: number | undefined
  readonly total: number | undefined
}

/**
 * The prompt with its cached tokens and the completion with its reasoning, which some senders count apart.
 * The total tells; else a part that is larger than the whole, or uncached tokens; else the hint.
 */
export function reconcileUsage(counts: UsageCounts, hint: UsageHint): ReconciledUsage {
  const { uncached, completion } = counts
  const split = (counts.cacheWrite5m ?? 0) + (counts.cacheWrite1h ?? 0)
  const read = counts.cacheRead ?? 0
  const written = Math.max(counts.cacheWrite ?? 0, split)
  const cached = read + written
  const given = counts.prompt ?? (uncached === undefined ? undefined : uncached + cached)
  const reasoning = counts.reasoning ?? 0
  const apart =
    apartByTotal({ ...counts, prompt: given }, read, written, reasoning) ??
    apartByHint({ ...counts, prompt: given }, cached, hint)
  const prompt = given === undefined ? undefined : given + apart.cached
  const whole = completion === undefined ? undefined : completion + apart.reasoning
  const isKnown = prompt !== undefined || whole !== undefined
  const sum = isKnown ? (prompt ?? 0) + (whole ?? 0) : undefined
  const total = Math.max(counts.total ?? 0, sum ?? 0)
  return {
    prompt,
    completion: whole,
    total: counts.total === undefined && sum === undefined ? undefined : total,
  }
}

/** Tokens that are not counted in the prompt and in the completion. */
interface Apart {
  readonly cached: number
  readonly reasoning: number
}

function apartByTotal(
  { prompt, completion, total, uncached }: UsageCounts,
  read: number,
  written: number,
  reasoning: number,
): Apart | undefined {
  if (total === undefined || prompt === undefined || completion === undefined) return undefined
  const choices: readonly Apart[] = [
    { cached: 0, reasoning: 0 },
    { cached: read + written, reasoning: 0 },
    { cached: 0, reasoning },
    { cached: read + written, reasoning },
    { cached: read, reasoning: 0 },
    { cached: read, reasoning },
    { cached: written, reasoning: 0 },
    { cached: written, reasoning },
  ]
  return choices.find((apart) => {
    const whole = prompt + apart.cached
    const isPossible = whole >= read + written && completion + apart.reasoning >= reasoning
    const isMeant = uncached === undefined || uncached + read + written === whole
    return isPossible && isMeant && whole + completion + apart.reasoning === total
  })
}

function apartByHint(
  { prompt = 0, completion = 0, uncached, reasoning = 0 }: UsageCounts,
  cached: number,
  hint: UsageHint,
): Apart {
  const isWhole = uncached !== undefined && uncached + cached === prompt
  const isUncached = uncached !== undefined && uncached === prompt
  const cacheIsApart = cached > prompt || isUncached || (hint.cacheIsApart && !isWhole)
  const reasoningIsApart = reasoning > completion || hint.reasoningIsApart
  return { cached: cacheIsApart ? cached : 0, reasoning: reasoningIsApart ? reasoning : 0 }
}
