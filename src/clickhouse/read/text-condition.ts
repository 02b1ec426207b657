/** Conditions on texts and on what lists hold, as far as `includes` and `like` mean the same to the cluster. */
import { type LikePattern, parseLike } from '../../type/like.ts'
import { kindOf, type Value } from '../../type/value.ts'
import {
  allOf,
  type Bounds,
  conjunction,
  decided,
  disjunction,
  isTrue,
  negation,
  never,
  noneOf,
} from './bounds.ts'
import type { Truths } from './compare-values.ts'
import type { CompiledValue } from './compiled-value.ts'
import { textLiteral } from './sql-text.ts'

const noTruth: Truths = { whereTrue: never, whereFalse: never }

/** @param isTags whether the column of tags has the haystack's elements */
export function includesBounds(haystack: CompiledValue, needle: Value, isTags: boolean): Truths {
  if (needle === null) return noTruth
  const isThere = decided(negation(haystack.isNull))
  const items = Array.isArray(needle) ? (needle as readonly Value[]) : [needle]
  if (items.includes(null)) {
    // Unknown where all others are held.
    const others = items.filter((item) => item !== null)
    const holdAll = allOf(others.map((item) => holdsOne(haystack, item, isTags)))
    return { whereTrue: never, whereFalse: allOf([isThere, noneOf(holdAll)]) }
  }
  const whereTrue = allOf([isThere, ...items.map((item) => holdsOne(haystack, item, isTags))])
  return { whereTrue, whereFalse: allOf([isThere, noneOf(whereTrue)]) }
}

function holdsOne(
  { typed, isHidden, hidden }: CompiledValue,
  item: Value,
  isTags: boolean,
): Bounds {
  const literal = typeof item === 'string' ? textLiteral(item) : undefined
  if (isTags)
    return literal === undefined ? maybe('0', hasTags(item)) : decided(`has(tags, ${literal})`)
  const inText = literal && typed.string && isTrue(`position(${typed.string}, ${literal}) > 0`)
  const open = disjunction([
    typed.array === undefined ? '0' : `isNotNull(${typed.array})`,
    hidden.some((kind) => kind === 'array' || kind === 'object') ? isHidden : '0',
    // A text that no column has may be half of a character of one.
    typeof item === 'string' && literal === undefined ? '1' : '0',
  ])
  return maybe(inText ?? '0', open)
}

/** Tags are texts. */
function hasTags(item: Value): string {
  return kindOf(item) === 'string' ? '1' : '0'
}

function maybe(sure: string, open: string): Bounds {
  return { sure, may: disjunction([sure, open]) }
}

/** Whether a text, or the JSON of another value, is as a pattern says. */
export function likeBounds(
  operand: CompiledValue,
  pattern: Value,
  caseInsensitive: boolean,
): Truths {
  if (typeof pattern !== 'string') return noTruth
  const isThere = negation(operand.isNull)
  const { string } = operand.typed
  const isText = string === undefined ? '0' : `isNotNull(${string})`
  const test = string === undefined ? '0' : likeText(string, pattern, caseInsensitive)
  // What is no text is matched by its JSON, which the body tells.
  const isOther = conjunction([isThere, negation(isText)])
  const canBeOther = Object.keys(operand.typed).some((kind) => kind !== 'string')
  const others = canBeOther || operand.hidden.length > 0 ? isOther : '0'
  if (test === undefined) {
    const bounds = { sure: '0', may: isThere }
    return { whereTrue: bounds, whereFalse: bounds }
  }
  const matches = isTrue(test)
  return {
    whereTrue: maybe(matches, others),
    whereFalse: maybe(conjunction([isText, negation(matches)]), others),
  }
}

/** Whether the pattern is told of texts as they are. */
export function isSimplePattern(pattern: Value, caseInsensitive: boolean): boolean {
  return typeof pattern !== 'string' || likeText('', pattern, caseInsensitive) !== undefined
}

/** Undefined of patterns that are left to Assay: how letters fold, and what one character is, it says itself. */
function likeText(text: string, pattern: string, caseInsensitive: boolean): string | undefined {
  if (caseInsensitive) return undefined
  const { kind, needle, stretches } = parseLike(pattern, false)
  const literal = textLiteral(needle)
  if (literal === undefined) return undefined
  switch (kind) {
    case 'exact':
      return `${text} = ${literal}`
    case 'prefix':
      return `startsWith(${text}, ${literal})`
    case 'suffix':
      return `endsWith(${text}, ${literal})`
    case 'contains':
      return `position(${text}, ${literal}) > 0`
    case 'general':
      return generalPattern(text, stretches)
  }
}

/** Of texts with any run between them; undefined where single characters are skipped. */
function generalPattern(text: string, stretches: LikePattern['stretches']): string | undefined {
  const isSkipping = stretches.some(({ parts: list, trailingSkip }) => {
    return list.length > 1 || trailingSkip > 0 || list.some(({ skip }) => skip > 0)
  })
  if (isSkipping) return undefined
  const parts = stretches.map(({ parts: list }) => list[0]?.text ?? '')
  const pattern = parts.map((part) => part.replace(/[\\%_]/g, '\\$&')).join('%')
  const literal = textLiteral(pattern)
  return literal && `${text} LIKE ${literal}`
}
