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
import { plainCaseTexts } from './letter-case.ts'
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
  const like = likeText(string ?? "''", pattern, caseInsensitive)
  if (like === undefined) {
    const bounds = { sure: '0', may: isThere }
    return { whereTrue: bounds, whereFalse: bounds }
  }
  // What is no text is matched by its JSON, which the body tells.
  const isOther = conjunction([isThere, negation(isText)])
  const canBeOther = Object.keys(operand.typed).some((kind) => kind !== 'string')
  const others = canBeOther || operand.hidden.length > 0 ? isOther : '0'
  const isFolded = conjunction([isText, isTrue(like.isFolded)])
  const open = disjunction([others, conjunction([isText, negation(isFolded)])])
  const matches = isTrue(like.test)
  return {
    whereTrue: maybe(conjunction([isFolded, matches]), open),
    whereFalse: maybe(conjunction([isFolded, negation(matches)]), open),
  }
}

/** Whether the pattern is told of texts as they are. */
export function isSimplePattern(pattern: Value, caseInsensitive: boolean): boolean {
  return typeof pattern !== 'string' || likeText('', pattern, caseInsensitive) !== undefined
}

interface LikeText {
  readonly test: string
  /** Where the test tells: the text's case goes as it does here. */
  readonly isFolded: string
}

/** The only characters beyond ASCII whose lower case is of it: a dotted capital I, and the sign of Kelvin. */
const foldsToAscii = ['\u0130', '\u212a']

/** Undefined of patterns that no text of a column is like: they have half of a character. */
function likeText(text: string, pattern: string, caseInsensitive: boolean): LikeText | undefined {
  if (!caseInsensitive) return likeFolded(text, pattern, false, '1')
  if (!isAscii(pattern.toLowerCase())) {
    return likeFolded(`lowerUTF8(${text})`, pattern, true, `match(${text}, ${plainCaseTexts})`)
  }
  const folds = foldsToAscii.map((letter) => `position(${text}, '${letter}') = 0`)
  return likeFolded(`lower(${text})`, pattern, true, conjunction(folds))
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text)
}

function likeFolded(
  text: string,
  pattern: string,
  caseInsensitive: boolean,
  isFolded: string,
): LikeText | undefined {
  const { kind, needle, stretches } = parseLike(pattern, caseInsensitive)
  const literal = textLiteral(kind === 'general' ? likePattern(stretches) : needle)
  if (literal === undefined) return undefined
  const tests = {
    exact: `${text} = ${literal}`,
    prefix: `startsWith(${text}, ${literal})`,
    suffix: `endsWith(${text}, ${literal})`,
    contains: `position(${text}, ${literal}) > 0`,
    general: `${text} LIKE ${literal}`,
  }
  return { test: tests[kind], isFolded }
}

/** Its `_` is a whole character there, too. */
function likePattern(stretches: LikePattern['stretches']): string {
  const written = stretches.map(({ parts, trailingSkip }) => {
    const texts = parts.map(({ skip, text }) => {
      return '_'.repeat(skip) + text.replace(/[\\%_]/g, '\\$&')
    })
    return texts.join('') + '_'.repeat(trailingSkip)
  })
  return written.join('%')
}
