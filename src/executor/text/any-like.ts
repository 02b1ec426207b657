/** Texts that match one of several patterns of LIKE: what they need is searched for all at once, not pattern by pattern. */
import type { BoundExpression } from '../../binder/bound.ts'
import { structuralKey } from '../../binder/rewrite.ts'
import { compileLike, type LikePattern, parseLike } from '../../type/like.ts'
import { needleSearch, type TextSearch } from './text-operators.ts'
import { hasOtherLetters, present, type Searched, undecided } from './text-search.ts'

type Like = Extract<BoundExpression, { kind: 'like' }>

/** Of fewer, one search after the other is as fast: each goes through some ten times as many bytes in that time. */
const fewestPatterns = 16

/** Patterns for one operand. */
export interface LikeGroup {
  readonly operand: BoundExpression
  readonly search: TextSearch
  readonly nodes: readonly BoundExpression[]
}

/** Operands of `or` that ask the same texts for several patterns, of one kind of case. */
export function likeGroups(operands: readonly BoundExpression[]): LikeGroup[] {
  const groups = new Map<string, { readonly node: Like; readonly text: string }[]>()
  for (const node of operands) {
    if (node.kind !== 'like' || node.pattern.kind !== 'constant') continue
    const { value } = node.pattern
    if (typeof value !== 'string') continue
    const key = `${node.caseInsensitive} ${structuralKey(node.operand)}`
    groups.set(key, [...(groups.get(key) ?? []), { node, text: value }])
  }
  return [...groups.values()].flatMap((likes) => {
    const { operand, caseInsensitive } = likes[0]!.node
    const search = anyLikeSearch(
      likes.map(({ text }) => text),
      caseInsensitive,
    )
    return search ? [{ operand, search, nodes: likes.map(({ node }) => node) }] : []
  })
}

/** Undefined where searching for all at once would not be right, or no faster. */
export function anyLikeSearch(
  texts: readonly string[],
  caseInsensitive: boolean,
): TextSearch | undefined {
  const patterns = texts.map((text) => parseLike(text, caseInsensitive))
  const isSearchable = ({ needle }: LikePattern) =>
    needle !== '' && (caseInsensitive ? isAscii(needle) : !/\p{Surrogate}/u.test(needle))
  if (texts.length < fewestPatterns || !patterns.every(isSearchable)) return undefined
  const needle = new AnyNeedle(
    patterns.map(({ needle }) => needle),
    caseInsensitive,
  )
  const matchers = texts.map((text) => compileLike(text, caseInsensitive))
  const isDecided = patterns.every(({ kind }) => kind === 'contains')
  // A hit that runs over the end of its text is none, but a shorter needle may be there.
  return needleSearch(
    needle,
    (_, at, __, end) => (isDecided && at + needle.hitLength <= end ? present : undecided),
    (text) => matchers.some((matches) => matches(text)),
  )
}

function isAscii(text: string): boolean {
  // Control characters are among them.
  return Buffer.byteLength(text) === text.length
}

/** Bytes as characters, of which a regular expression finds the next of many texts. */
class AnyNeedle implements Searched {
  readonly byteLength = 1
  /** Of what was found last. */
  hitLength = 0
  readonly #expression: RegExp
  readonly #needles: readonly string[]
  readonly #caseInsensitive: boolean

  constructor(needles: readonly string[], caseInsensitive: boolean) {
    this.#needles = needles
    this.#caseInsensitive = caseInsensitive
    const alternatives = needles.map((needle) =>
      Buffer.from(needle)
        .toString('latin1')
        .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'),
    )
    this.#expression = new RegExp(alternatives.join('|'), caseInsensitive ? 'gi' : 'g')
  }

  in(region: Buffer): ((from: number) => number) | undefined {
    const isUnsure = this.#caseInsensitive && hasOtherLetters(region, this.#needles)
    if (isUnsure) return undefined
    const characters = region.toString('latin1')
    return (from) => {
      this.#expression.lastIndex = from
      const hit = this.#expression.exec(characters)
      this.hitLength = hit?.[0].length ?? 0
      return hit?.index ?? -1
    }
  }
}
