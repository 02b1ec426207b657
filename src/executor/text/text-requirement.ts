/**
 * What a predicate asks of the text of a field: parts that a row must have there to pass it. Indexes of
 * words and of parts (`vector/term-index.ts`, `vector/gram-index.ts`) tell which rows may.
 */
import { isAscii } from 'node:buffer'
import { type BoundExpression, hiddenField } from '../../binder/bound.ts'
import { constantValue, type EvaluationContext } from '../../binder/evaluate.ts'
import { foldText } from '../../type/fold-text.ts'
import { parseLike } from '../../type/like.ts'
import { isStoredField } from '../../type/record.ts'
import {
  readSearchQuery,
  type SearchPhrase,
  type SearchTerm,
  type WordFit,
} from '../../type/search-query.ts'
import { textOf } from '../../type/text.ts'
import { isObject, type Path, type Value } from '../../type/value.ts'
import { gramsOf } from '../../vector/gram-index.ts'
import { mayBeBeside, type TermPart, termPartsOf } from '../../vector/term-index.ts'

/** A folded text to find; the grams of a short one are none. */
export interface Fragment {
  readonly folded: string
  readonly grams: Int32Array
  /** What must be among the words of a text that has it. */
  readonly terms: readonly TermPart[]
  /** Whether indexes of older versions tell of it, too: it is of ASCII. */
  readonly isPlain: boolean
}

/** A term of full-text search: its text is folded for that. */
export interface SoughtTerm extends SearchTerm {
  readonly fits: WordFit
  readonly bytes: Buffer
  readonly grams: Int32Array
  /** Whether a word that fits may be left out of an index of words. */
  readonly isBeside: boolean
}

/** A text that must occur: what shows it in a text as it is, and in JSON. All of the fragments do. */
export interface RequiredText {
  readonly inText: readonly Fragment[]
  readonly inJson: readonly JsonFragment[]
  /** Whether the fragments are all of the text, without halves of characters. */
  readonly isWhole: boolean
}

/** Lies within one string, number or name of the JSON, if it occurs there. */
export interface JsonFragment extends Fragment {
  /** What of it is in a string's own text: it may begin with the end of an escape. */
  readonly unescaped: Fragment
}

export type TextRequirement =
  | {
      readonly kind: 'parts'
      /** Of the part of the path before any array index, whose JSON holds the rest. */
      readonly path: readonly string[]
      readonly parts: readonly RequiredText[]
      /** Whether a row passes exactly if it has a word for each part, of which each is one. */
      readonly isTold: boolean
      /** Whether only texts can pass: numbers and times are compared, not searched. */
      readonly onlyText: boolean
    }
  | {
      readonly kind: 'terms'
      readonly path: readonly string[]
      readonly terms: readonly SoughtTerm[]
      /** Whether a row passes exactly if it has them all. */
      readonly isTold: boolean
    }
  | {
      /** That a text does not fit. */
      readonly kind: 'not'
      readonly path: readonly string[]
      readonly of: TextRequirement
    }
  | { readonly kind: 'any'; readonly of: readonly TextRequirement[] }
  | {
      readonly kind: 'all'
      readonly of: readonly TextRequirement[]
      /** Whether nothing else is asked of a row. */
      readonly isAll: boolean
    }

/** Undefined when the predicate asks nothing that words, or parts of 4 bytes, could show. */
export function textRequirement(
  predicate: BoundExpression,
  context: EvaluationContext,
): TextRequirement | undefined {
  switch (predicate.kind) {
    case 'and': {
      const of = predicate.operands.flatMap((operand) => textRequirement(operand, context) ?? [])
      if (of.length === 0) return undefined
      return { kind: 'all', of, isAll: of.length === predicate.operands.length }
    }
    case 'or': {
      const of = predicate.operands.map((operand) => textRequirement(operand, context))
      return of.every((requirement) => requirement !== undefined) ? { kind: 'any', of } : undefined
    }
    case 'not':
      return negated(predicate.operand, context)
    case 'like': {
      const pattern = constantValue(predicate.pattern, context)
      if (typeof pattern !== 'string') return undefined
      const { kind, stretches } = parseLike(pattern, predicate.caseInsensitive)
      const texts = stretches.flatMap(({ parts }) => parts.map(({ text }) => text))
      return ofField(predicate.operand, texts, {
        asks: 'parts',
        isTold: predicate.caseInsensitive && kind === 'contains',
      })
    }
    case 'match': {
      const query = constantValue(predicate.query, context)
      if (query === undefined || query === null) return undefined
      return ofSearch(predicate.operand, textOf(query))
    }
    case 'includes': {
      const needle = constantValue(predicate.needle, context)
      if (needle === undefined) return undefined
      const texts = textsOfIncluded(needle)
      const of = [
        ofField(predicate.haystack, texts.parts, { asks: 'parts', isTold: false }),
        ofField(predicate.haystack, texts.wholes, { asks: 'words', isTold: false }),
      ].flatMap((requirement) => requirement ?? [])
      return of.length === 0 ? undefined : { kind: 'all', of, isAll: false }
    }
    case 'comparison': {
      if (predicate.operator !== 'eq') return undefined
      const { left, right } = predicate
      const [field, other] = left.kind === 'field' ? [left, right] : [right, left]
      return equality(field, constantValue(other, context))
    }
    case 'in': {
      const list = constantValue(predicate.list, context)
      if (!Array.isArray(list) || list.length > maximumList) return undefined
      const of = (list as readonly Value[]).map((item) => equality(predicate.operand, item))
      return of.every((requirement) => requirement !== undefined) ? { kind: 'any', of } : undefined
    }
    default:
      return undefined
  }
}

/** Of conditions that are true or false of every text. */
function negated(
  predicate: BoundExpression,
  context: EvaluationContext,
): TextRequirement | undefined {
  if (predicate.kind !== 'like' && predicate.kind !== 'match') return undefined
  const { operand } = predicate
  const path = operand.kind === 'field' ? columnPath(operand.path) : undefined
  // A text has nothing at an index.
  if (operand.kind !== 'field' || path?.length !== operand.path.length) return undefined
  const of = textRequirement(predicate, context)
  return of && { kind: 'not', path, of }
}

/** Lists beyond this are not looked up text by text. */
const maximumList = 16

/** Texts that must be in what includes a value: as parts, or as texts between quotes. */
function textsOfIncluded(value: Value): { readonly parts: string[]; readonly wholes: string[] } {
  if (typeof value === 'string') return { parts: [value], wholes: [] }
  if (Array.isArray(value)) {
    const items = (value as readonly Value[]).map(textsOfIncluded)
    return {
      parts: items.flatMap(({ parts }) => parts),
      wholes: items.flatMap(({ wholes }) => wholes),
    }
  }
  if (!isObject(value)) return { parts: [], wholes: [] }
  return { parts: [], wholes: Object.values(value).flatMap(textsOfMember) }
}

function textsOfMember(value: Value): string[] {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value) && !isObject(value)) return []
  return Object.values(value as Record<string, Value>).flatMap(textsOfMember)
}

function equality(operand: BoundExpression, value: Value | undefined): TextRequirement | undefined {
  if (typeof value !== 'string') return undefined
  return ofField(operand, [value], { asks: 'equal', isTold: false })
}

function ofSearch(operand: BoundExpression, query: string): TextRequirement | undefined {
  if (operand.kind !== 'field') return undefined
  const path = columnPath(operand.path)
  const phrases = readSearchQuery(query)
  const terms = phrases.flatMap(soughtTerms)
  if (!path || terms.length === 0) return undefined
  // What follows after an index has no words of its own.
  const isWhole = path.length === operand.path.length
  return {
    kind: 'terms',
    path,
    terms,
    isTold:
      isWhole && terms.length === phrases.length && phrases.every(({ length }) => length === 1),
  }
}

/** The words of a phrase. Indexes have no signs: rows with the words are looked at. */
export function soughtTerms(phrase: SearchPhrase): SoughtTerm[] {
  return phrase.flatMap((term) => (term.fits === 'sign' ? [] : soughtTerm(term, term.fits)))
}

function soughtTerm(term: SearchTerm, fits: SoughtTerm['fits']): SoughtTerm {
  return {
    ...term,
    fits,
    bytes: Buffer.from(term.text),
    grams: gramsOf(term.text),
    isBeside: term.fits !== 'word' || mayBeBeside(term.text),
  }
}

/** What is asked for: texts of whole words, parts of texts, or texts that are all of a value. */
interface Asked {
  readonly asks: 'words' | 'parts' | 'equal'
  /** Whether nothing but having all of it is asked of a value. */
  readonly isTold: boolean
}

function ofField(
  operand: BoundExpression,
  texts: readonly string[],
  { asks, isTold }: Asked,
): TextRequirement | undefined {
  if (operand.kind !== 'field') return undefined
  const path = columnPath(operand.path)
  if (!path) return undefined
  const all = texts.map((text) => partOf(text, asks === 'parts'))
  const parts = all.filter(({ inText }) => inText.length > 0)
  if (parts.length === 0) return undefined
  return {
    kind: 'parts',
    path,
    parts,
    onlyText: asks === 'equal',
    // What follows after an index has no words of its own.
    isTold: isTold && path.length === operand.path.length && all.every(isOneWord),
  }
}

/** Whether the part is found exactly where a word fits, in a text and in JSON. */
function isOneWord({ inText, inJson, isWhole }: RequiredText): boolean {
  const [inside] = inText
  const [term] = inside?.terms ?? []
  if (!isWhole || !inside || !term || inText.length > 1 || inJson.length !== 1) return false
  // The lower case of Σ follows from what is around it.
  return term.text === inside.folded && !term.text.includes('σ')
}

/** Undefined for what follows from a row's keys or its object. */
function columnPath(path: Path): readonly string[] | undefined {
  const name = String(path[0])
  if (!isStoredField(name) || name === hiddenField.object || name.startsWith('_')) return undefined
  const index = path.findIndex((step) => typeof step === 'number')
  return (index < 0 ? path : path.slice(0, index)) as readonly string[]
}

/** @param isOpen whether words of the text may be parts of words */
function partOf(text: string, isOpen: boolean): RequiredText {
  // The halves of a character may be those of another one: only what is whole is looked for.
  const whole = text.split(/\p{Surrogate}/u)
  const mayGoOn = isOpen || whole.length > 1
  return {
    isWhole: whole.length === 1,
    inText: whole.map((fragment) => fragmentOf(fragment, mayGoOn)).filter(tellsAnything),
    inJson: whole
      .flatMap(withinTokens)
      .filter((fragment) => !isOfNull(fragment))
      .map((fragment) => jsonFragmentOf(fragment, mayGoOn))
      .filter(tellsAnything),
  }
}

/** Cuts a text where JSON has something else than the inside of a string, or escapes it. */
export function withinTokens(text: string): string[] {
  const fragments: string[] = []
  let start = 0
  for (let i = 0; i <= text.length; i++) {
    if (i < text.length && text[i]! >= ' ' && !'"\\{}[],:'.includes(text[i]!)) continue
    if (i > start) fragments.push(text.slice(start, i))
    start = i + 1
  }
  return fragments
}

/** Whether the text may be of a null that is printed for a number beyond all doubles, which indexes have as it was written. */
export function isOfNull(text: string): boolean {
  return 'null'.includes(text.toLowerCase())
}

function jsonFragmentOf(text: string, isOpen: boolean): JsonFragment {
  const fragment = fragmentOf(text, isOpen)
  const end = escapeEnd(fragment.folded)
  // What an escape stands for is of no word.
  return {
    ...fragment,
    unescaped: end === 0 ? fragment : fragmentOf(fragment.folded.slice(end), isOpen, false),
  }
}

function fragmentOf(text: string, isOpen: boolean, beginsOpen = isOpen): Fragment {
  const folded = foldText(text)
  return {
    folded,
    grams: gramsOf(text),
    terms: termPartsOf(folded, isOpen, beginsOpen),
    isPlain: isAscii(Buffer.from(folded)),
  }
}

function tellsAnything({ grams, terms }: Fragment): boolean {
  return grams.length > 0 || terms.length > 0
}

/** How much of a text's beginning may be the end of an escape: `n` of `\n`, `01f` of `\u001f`. */
export function escapeEnd(folded: string): number {
  if (/^u00[01][0-9a-f]/.test(folded)) return 5
  if (/^00[01][0-9a-f]/.test(folded)) return 4
  if (/^0[01][0-9a-f]/.test(folded)) return 3
  if (/^[01][0-9a-f]/.test(folded)) return 2
  return /^[0-9a-fnrt]/.test(folded) ? 1 : 0
}
