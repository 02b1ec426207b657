/** Patterns of texts, and of the JSON of other values, as far as `like` means the same to the cluster. */
import { compileLike, type LikePattern, parseLike } from '../../type/like.ts'
import type { Path, Value } from '../../type/value.ts'
import {
  allOf,
  always,
  anyOf,
  type Bounds,
  conjunction,
  decided,
  disjunction,
  isTrue,
  negation,
  never,
  noneOf,
  unproven,
} from './bounds.ts'
import type { Truths } from './compare-values.ts'
import type { CompiledValue } from './compiled-value.ts'
import { mayBeginInEscape, placeInJson, unescapedParts } from './json-needle.ts'
import {
  hasOwnColumn,
  isEscapedElsewise,
  type JsonText,
  jsonOf,
  printedTexts,
} from './json-text.ts'
import { isCaseless, plainCaseTexts } from './letter-case.ts'
import { printedElsewise } from './phrase-pattern.ts'
import { textLiteral } from './sql-text.ts'

const noTruth: Truths = { whereTrue: never, whereFalse: never }

/**
 * Whether a text, or the JSON of another value, is as a pattern says.
 *
 * @param path that of the field, if it is one
 */
export function likeBounds(
  operand: CompiledValue,
  path: Path | undefined,
  pattern: Value,
  caseInsensitive: boolean,
): Truths {
  if (typeof pattern !== 'string') return noTruth
  const asked = { pattern, caseInsensitive }
  if (likeText('', asked) === undefined) {
    const bounds = { sure: '0', may: negation(operand.isNull) }
    return { whereTrue: bounds, whereFalse: bounds }
  }
  const { string, boolean, number, array, timestamp } = operand.typed
  const kinds: [where: string, matches: Bounds][] = []
  const add = (sql: string | undefined, matches: (sql: string) => Bounds): void => {
    if (sql !== undefined) kinds.push([`isNotNull(${sql})`, matches(sql)])
  }
  add(string, (text) => textLike(text, asked))
  add(boolean, (truth) => truthLike(truth, asked))
  add(number, (of) => numberLike(of, asked))
  // Times are told by what is printed of them.
  add(timestamp, () => unproven)
  add(array, (json) => textLike(json, asked))
  // Below other fields objects are few, and reading all bodies for them takes 30 times as long as all the rest.
  const isRead = path && (path.length === 1 || hasOwnColumn(path))
  const json = isRead && operand.hidden.length > 0 ? jsonOf(path) : undefined
  kinds.push([operand.isHidden, json ? jsonLike(json, asked) : unproven])
  const isThere = decided(negation(operand.isNull))
  const where = (truth: (matches: Bounds) => Bounds): Bounds => {
    const ofKinds = kinds.map(([isOfKind, matches]) => allOf([decided(isOfKind), truth(matches)]))
    return allOf([isThere, anyOf(ofKinds)])
  }
  return { whereTrue: where((matches) => matches), whereFalse: where(noneOf) }
}

interface Asked {
  readonly pattern: string
  readonly caseInsensitive: boolean
}

function textLike(text: string, asked: Asked): Bounds {
  const { test, isFolded } = likeText(text, asked)!
  return boundsWhere(isTrue(test), isFolded === '1' ? '1' : isTrue(isFolded))
}

/** @param isTold where the test tells */
function boundsWhere(test: string, isTold: string): Bounds {
  return {
    sure: conjunction([isTold, test]),
    may: disjunction([conjunction([isTold, test]), negation(isTold)]),
  }
}

function truthLike(truth: string, { pattern, caseInsensitive }: Asked): Bounds {
  const matches = compileLike(pattern, caseInsensitive)
  return decided(
    disjunction([
      matches('true') ? isTrue(truth) : '0',
      matches('false') ? isTrue(`NOT ${truth}`) : '0',
    ]),
  )
}

/** Numbers that are printed without an exponent are so by both. */
function numberLike(number: string, asked: Asked): Bounds {
  const texts = textsOf(asked)
  if (texts.some((text) => !/^[-+.\de]*$/.test(text))) return never
  const size = `abs(${number})`
  const isTold = `(${size} = 0 OR (${size} >= 0.000001 AND ${size} < 1e15))`
  return boundsWhere(isTrue(likeText(`toString(${number} + 0.)`, asked)!.test), isTrue(isTold))
}

/** Literal texts of the pattern, in the order in which they occur. */
function textsOf({ pattern, caseInsensitive }: Asked): string[] {
  const { stretches } = parseLike(pattern, caseInsensitive)
  return stretches.flatMap(({ parts }) => parts.map(({ text }) => text))
}

/** Of what is neither a text nor a list of its own: what stands within one token of its JSON is found there, or nowhere. */
function jsonLike(written: JsonText, asked: Asked): Bounds {
  const { kind } = parseLike(asked.pattern, asked.caseInsensitive)
  const texts = textsOf(asked)
  if (kind === 'contains' && texts.length === 0) return always
  const isWhole = kind === 'contains' && texts.every((text) => unescapedParts(text)[0] === text)
  const parts = texts.flatMap(unescapedParts)
  const found = parts.map((part) => partOfJson(written, part, asked.caseInsensitive))
  if (isWhole) return allOf(found)
  return { sure: '0', may: allOf(found).may }
}

/** Whether JSON as it is printed has a part that is not escaped. */
function partOfJson(written: JsonText, part: string, caseInsensitive: boolean): Bounds {
  const place = placeInJson(part)
  if (place === 'any') return unproven
  const { sql, isMissing, repeatsNames } = printedTexts(written, part.includes('/'))
  const pattern = `%${part.replace(/[\\%_]/g, '\\$&')}%`
  const { test, isFolded } = likeText(sql, { pattern, caseInsensitive })!
  const isOpen = disjunction([
    isMissing,
    negation(isFolded === '1' ? '1' : isTrue(isFolded)),
    place === 'number' ? `match(${sql}, ${printedElsewise})` : '0',
    mayBeginInEscape(part) ? isEscapedElsewise(sql) : '0',
  ])
  const isFound = conjunction([isTrue(test), negation(isOpen)])
  return {
    sure: conjunction([isFound, negation(repeatsNames)]),
    may: disjunction([isFound, isOpen]),
  }
}

/** Whether the pattern is told of texts as they are. */
export function isSimplePattern(pattern: Value, caseInsensitive: boolean): boolean {
  return typeof pattern !== 'string' || likeText('', { pattern, caseInsensitive }) !== undefined
}

interface LikeText {
  readonly test: string
  /** Where the test tells: the text's case goes as it does here. */
  readonly isFolded: string
}

/** The only character whose lower case is two. */
const dottedCapital = '\u0130'
/** The only characters beyond ASCII whose lower case is of it, the second one the sign of Kelvin. */
const foldsToAscii = [dottedCapital, '\u212a']

/** Undefined of patterns that no text of a column is like: they have half of a character. */
function likeText(text: string, { pattern, caseInsensitive }: Asked): LikeText | undefined {
  if (!caseInsensitive) return likeFolded(text, pattern, false, '1')
  if (isCaseless(pattern)) {
    return likeFolded(
      text,
      pattern,
      true,
      pattern.includes('_') ? hasNone(text, dottedCapital) : '1',
    )
  }
  if (!isAscii(pattern.toLowerCase())) {
    return likeFolded(`lowerUTF8(${text})`, pattern, true, `match(${text}, ${plainCaseTexts})`)
  }
  const isFolded = conjunction(foldsToAscii.map((letter) => hasNone(text, letter)))
  return likeFolded(`lower(${text})`, pattern, true, isFolded)
}

function hasNone(text: string, letter: string): string {
  return `position(${text}, '${letter}') = 0`
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
