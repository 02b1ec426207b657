/**
 * Cuts the literals out of texts that differ from one that was cut lately in one literal only, without
 * reading the rest of them again: most clients ask the same of one id after the other.
 *
 * A literal may be longer or shorter than the one before, but no character of it can end it, or belong to what
 * stands beside it, so that all other tokens are the same. Whatever is not that plain is cut by
 * `cutLiterals`. Users share none, as the time would tell one what another has asked.
 */
import {
  type CutLiteral,
  type CutText,
  cutLiterals,
  type LiteralKind,
  literalOfText,
  longestText,
  writtenLiteral,
} from './cut-literals.ts'

interface RecentCut {
  readonly user: string
  readonly kind: LiteralKind
  /** The text before and after the literal, and its quotes. */
  readonly head: string
  readonly tail: string
  readonly shape: string
  /** The user and the shape: one string, of which the hash is known once it was looked up. */
  readonly userShape: string
}

/** A text that was cut as one before it was. */
interface AgainCut extends CutText {
  /** What `cut` was given as the user, and the shape behind it. */
  readonly userShape: string
}

/** Of all users together. */
const keptCuts = 16

const plainText = /^[\w.:-]+$/
const plainNumber = /^\d{1,9}(?:\.\d{1,5})?$/
/** What may stand after a number that is part of it in no way. */
const afterNumber = /^(?:$|[\s|),])/

export class RecentCuts {
  /** The newest first. */
  #cuts: readonly RecentCut[] = []

  /** As `cutLiterals` does it. */
  cut(user: string, text: string): CutText | undefined {
    const again = this.again(user, text)
    if (again) return again
    const cut = cutLiterals(text)
    const recent = cut && recentOf(user, text, cut)
    if (recent) this.#cuts = [recent, ...this.#cuts].slice(0, keptCuts)
    return cut
  }

  /** Undefined when no text like it was cut lately. */
  again(user: string, text: string): AgainCut | undefined {
    for (const known of this.#cuts) {
      const again = known.user === user ? cutAgain(known, text) : undefined
      if (again) return again
    }
    return undefined
  }
}

function recentOf(
  user: string,
  text: string,
  { shape, literals, only }: CutText,
): RecentCut | undefined {
  const [literal] = literals
  if (!only || !literal) return undefined
  const { start, end } = only
  const isNumber = literal.kind === 'number'
  if (!isNumber && text[start] !== "'") return undefined
  const quotes = isNumber ? 0 : 1
  const [head, tail] = [text.slice(0, start + quotes), text.slice(end - quotes)]
  if (isNumber && !afterNumber.test(tail)) return undefined
  return { user, kind: literal.kind, head, tail, shape, userShape: user + shape }
}

function cutAgain(known: RecentCut, text: string): AgainCut | undefined {
  const { kind, head, tail, shape, userShape } = known
  const end = text.length - tail.length
  if (end <= head.length || text.length > longestText) return undefined
  if (!text.startsWith(head) || !text.endsWith(tail)) return undefined
  const written = text.slice(head.length, end)
  if (!(kind === 'number' ? plainNumber : plainText).test(written)) return undefined
  const literal: CutLiteral | undefined =
    kind === 'number' ? { kind, value: Number(written) } : literalOfText(written)
  if (literal?.kind !== kind) return undefined
  const quotes = kind === 'number' ? 0 : 1
  const only = { start: head.length - quotes, end: end + quotes }
  const textOf = ([other]: readonly CutLiteral[]) =>
    text.slice(0, only.start) + writtenLiteral(other!.value) + text.slice(only.end)
  return { shape, literals: [literal], only, with: textOf, userShape }
}
