import { printString } from '../parser/print.ts'
import { samePath } from '../type/value.ts'
import { recognizeComparison } from './comparison-phrase.ts'
import { isFiller } from './filler.ts'
import { dimensionOf, measureOf, recognizeGroup } from './group-phrase.ts'
import { recognizeHaving } from './having-phrase.ts'
import { recognizeOrder } from './order-phrase.ts'
import {
  type Context,
  type Dimension,
  type Having,
  type Meaning,
  type Measure,
  type Order,
  PhraseReader,
  type Recognized,
  type Recognizer,
} from './phrase.ts'
import { fieldQuantity, quantityOf } from './quantity.ts'
import { searches, type Term, toldTerms } from './search-terms.ts'
import { mend } from './spelling.ts'
import { hasTag, recognizeState } from './state-phrase.ts'
import { recognizeText } from './text-phrase.ts'
import { recognizeTime } from './time-phrase.ts'
import { anotherValue, recognizeValue } from './value-phrase.ts'
import type { Vocabulary, VocabularyField } from './vocabulary.ts'
import { attachedWords, isComparison, namesNothing, readWords, type Word } from './words.ts'
import {
  type Condition,
  isGrouped,
  type Reading,
  type Translation,
  write,
} from './write-reading.ts'

export interface TranslationRequest {
  readonly text: string
  readonly vocabulary: Vocabulary
  /** Milliseconds since 1970. */
  readonly now: number
  /** Minutes behind UTC. */
  readonly tzOffset: number
  /** Whether the source holds spans of traces, which can be shown as one row each. */
  readonly hasTraces: boolean
}

/** Of equally long readings the first is taken. */
const recognizers: readonly Recognizer[] = [
  recognizeTime,
  recognizeHaving,
  recognizeComparison,
  recognizeText,
  recognizeState,
  recognizeOrder,
  recognizeValue,
  recognizeGroup,
  recognizeConnector,
]

export function translate(request: TranslationRequest): Translation {
  if (namesNothing(request.text)) return findingNothing(request.text.trim())
  const { words, told } = mend(readWords(request.text), request.vocabulary)
  const translation = translateWords(words, request)
  if (told.length === 0) return translation
  return { ...translation, explanation: `${told.join(', ')}; ${translation.explanation}` }
}

/** What names nothing is looked for as it is, so that the answer is as empty as it is. */
function findingNothing(text: string): Translation {
  const why = text === '' ? 'the text is empty' : `"${text}" has no word and no sign`
  return {
    kind: 'full_text',
    clauses: `select: *\nfilter: search(${printString(text)})`,
    shape: undefined,
    explanation: `nothing to look for: ${why}`,
  }
}

function translateWords(words: readonly Word[], request: TranslationRequest): Translation {
  const spoken = words.map(({ plain }) => plain).join(' ')
  if (request.hasTraces && /\b(per|each) trace\b/.test(spoken)) {
    return write(read(words, request, 'traces'), 'summary')
  }
  const records = read(words, request, 'records')
  const namesTraces = words.some(({ plain }) => plain === 'traces' || plain === 'trace')
  if (request.hasTraces && namesTraces && !isGrouped(records)) {
    return write(read(words, request, 'traces'), 'summary')
  }
  return write(records, undefined)
}

function read(words: readonly Word[], request: TranslationRequest, rows: Context['rows']): Reading {
  return new WordsReader(words, request, rows).read()
}

/** Reads words from left to right, and gathers what they mean. */
class WordsReader {
  readonly #words: readonly Word[]
  readonly #request: TranslationRequest
  readonly #context: Context
  readonly #conditions: Condition[] = []
  readonly #orders: Order[] = []
  readonly #measures: Measure[] = []
  readonly #dimensions: Dimension[] = []
  readonly #mentions: Mention[] = []
  readonly #havings: Having[] = []
  readonly #symbols: Word[] = []
  #terms: Term[] = []
  #limit: number | undefined
  #isNegated = false
  #isAlternative = false
  #isCompared = false
  #wasNegated = false
  #lastField: VocabularyField | undefined
  #stretch = 0
  /** Words that are looked for or else what was said before them. */
  #alternatives: Term[] | undefined
  #lastWas: 'condition' | 'term' | undefined

  constructor(words: readonly Word[], request: TranslationRequest, rows: Context['rows']) {
    this.#words = words
    this.#request = request
    const begins = (at: number) =>
      recognizers.some((recognize) => recognize(new PhraseReader(words, at), this.#context))
    this.#context = { ...request, rows, begins }
  }

  read(): Reading {
    for (let at = 0; at < this.#words.length; ) at += this.#take(at)
    const conditions = this.#conditions
    const [orders, measures, dimensions] = [this.#orders, this.#measures, this.#dimensions]
    const [mentions, havings, limit] = [this.#mentions, this.#havings, this.#limit]
    const isEmpty = [
      ...[conditions, orders, measures, dimensions, mentions, havings],
      this.#terms,
    ].every(({ length }) => length === 0)
    // Of a comparison of nothing, its sign is meant.
    const terms = isEmpty && limit === undefined ? this.#symbols.map(signTerm) : this.#terms
    const reading = { conditions, orders, limit, measures, dimensions, havings, terms }
    const settled = this.#isCompared ? compared(reading, mentions, this.#context) : reading
    return settle(settled, mentions, this.#words)
  }

  /** Takes the words at a place that mean something together, or are looked for, and returns how many they are. */
  #take(at: number): number {
    const word = this.#words[at]!
    if (word.kind === 'tag') {
      for (const condition of tagConditions(word, this.#request.hasTraces)) this.#mean(condition)
      return 1
    }
    const found = longest(this.#words, at, this.#context)
    if (found) {
      for (const meaning of found.meanings) this.#mean(meaning)
      if (found.meanings.some(({ kind }) => kind !== 'or' && kind !== 'not')) {
        this.#stretch++
        this.#alternatives = undefined
      }
      return found.length
    }
    const again =
      this.#isAlternative && this.#lastField?.isText
        ? anotherValue(new PhraseReader(this.#words, at), this.#lastField)
        : undefined
    if (again) {
      for (const meaning of again.meanings) this.#mean(meaning)
      return again.length
    }
    if (this.#isNegated && word.kind === 'text' && this.#isOfErrors) return this.#leaveOut(at)
    const count = lookedForTogether(this.#words, at, this.#context)
    if (isComparison(word)) this.#symbols.push(word)
    if (count > 1 || isLookedFor(word)) this.#lookFor(at, count)
    return count
  }

  get #isOfErrors(): boolean {
    return this.#conditions.some(({ text }) => text === 'error is not null')
  }

  /** "errors except rate limits and timeouts": kinds of errors, each of as many words as mean nothing else. */
  #leaveOut(at: number): number {
    const isPlain = (place: number) => {
      const word = this.#words[place]
      return word?.kind === 'text' && !isFiller(word.plain) && !this.#context.begins(place)
    }
    let end = at
    do {
      const start = end > at ? end + 1 : at
      for (end = start + 1; isPlain(end); ) end++
      const text = this.#request.text.slice(this.#words[start]!.from, this.#words[end - 1]!.to)
      const term = { text, isPhrase: false, isUnwanted: true, isAlternative: false }
      this.#terms.push({ ...term, stretch: this.#stretch })
      // "rate limit errors"
      if (/^(?:error|failure)s?$/.test(this.#words[end]?.plain ?? '')) end++
    } while (/^(?:and|or|nor)$/.test(this.#words[end]?.plain ?? '') && isPlain(end + 1))
    this.#lastWas = 'term'
    this.#isNegated = false
    this.#isAlternative = false
    return end - at
  }

  #mean(meaning: Meaning): void {
    switch (meaning.kind) {
      case 'condition':
        this.#require(meaning)
        return
      case 'having':
        this.#havings.push(meaning.having)
        return
      case 'order':
        this.#orders.push(meaning.order)
        return
      case 'limit':
        this.#limit = meaning.count
        return
      case 'measure':
        this.#measures.push(meaning.measure)
        return
      case 'dimension':
        this.#dimensions.push(meaning.dimension)
        return
      case 'mention':
      case 'quantity':
        this.#mentions.push(meaning)
        return
      case 'not':
        this.#isNegated = !this.#isNegated
        return
      case 'or':
        this.#isAlternative = true
        return
      case 'compare':
        this.#isCompared = true
        return
      case 'and':
      case 'nothing':
        return
    }
  }

  #require({
    text,
    told,
    field,
    negated = `not (${text})`,
  }: Extract<Meaning, { kind: 'condition' }>): void {
    const last = this.#lastField
    // Of one field, a second value is another that is meant, or another that is not.
    const isSecond = field !== undefined && last !== undefined && samePath(field.path, last.path)
    const isUnwanted = this.#isNegated || (isSecond && this.#wasNegated)
    if (this.#isAlternative && this.#lastWas === 'term') {
      // "refunds or errors": words beside `or` are looked for as one of two.
      const isBeside = (term: Term) => term.stretch === this.#stretch && !term.isUnwanted
      const beside = this.#terms.filter(isBeside)
      this.#terms = this.#terms.filter((term) => !isBeside(term))
      if (beside.length > 0) this.#conditions.push(lookedFor(beside, false))
    }
    this.#conditions.push({
      text: isUnwanted ? negated : text,
      told: isUnwanted ? `not: ${told}` : told,
      field,
      isAlternative: isSecond ? !isUnwanted : this.#isAlternative,
    })
    this.#lastField = field
    this.#wasNegated = isUnwanted
    this.#isNegated = false
    this.#isAlternative = false
    this.#alternatives = undefined
    this.#lastWas = 'condition'
  }

  #lookFor(at: number, count: number): void {
    const [isNegated, isAlternative] = [this.#isNegated, this.#isAlternative]
    const word = this.#words[at]!
    const last = this.#words[at + count - 1]!
    const term = {
      text: count > 1 ? this.#request.text.slice(word.from, last.to) : word.text,
      isPhrase: word.kind === 'phrase',
      isUnwanted: isNegated,
      isAlternative: isAlternative && !isNegated && this.#terms.at(-1)?.isUnwanted === false,
      stretch: this.#stretch,
    }
    if (isAlternative && !isNegated && this.#lastWas === 'condition') this.#alternatives = []
    const alternatives = this.#alternatives
    if (alternatives && !isNegated) {
      // "errors or refund policy": all words up to the next that mean something else.
      if (alternatives.length > 0) this.#conditions.pop()
      alternatives.push({ ...term, isAlternative: isAlternative && alternatives.length > 0 })
      this.#conditions.push(lookedFor(alternatives, true))
    } else {
      this.#terms.push(term)
      this.#lastWas = 'term'
    }
    this.#isNegated = false
    this.#isAlternative = false
  }
}

/** How many words from a place on are looked for as they are written, since none of them means anything else. */
function lookedForTogether(words: readonly Word[], at: number, context: Context): number {
  const count = attachedWords(words, at)
  const others = Array.from({ length: count - 1 }, (_, i) => at + 1 + i)
  return others.some((each) => context.begins(each)) ? 1 : count
}

/** Comparisons of nothing are left out, but for those that nobody writes for a pause. */
function isLookedFor({ kind, text, plain }: Word): boolean {
  if (kind === 'symbol') return /^[≠≤≥]$/.test(text)
  return kind === 'phrase' || (kind === 'text' && !isFiller(plain))
}

function signTerm({ text }: Word): Term {
  return { text, isPhrase: false, isUnwanted: false, isAlternative: false, stretch: 0 }
}

/** Words that are looked for as one condition among others. */
function lookedFor(terms: readonly Term[], isAlternative: boolean): Condition {
  const text = searches(terms).join(' and ')
  return { text, told: `the text has ${toldTerms(terms)}`, field: undefined, isAlternative }
}

function longest(words: readonly Word[], at: number, context: Context): Recognized | undefined {
  let best: Recognized | undefined
  for (const recognize of recognizers) {
    const found = recognize(new PhraseReader(words, at), context)
    if (found && found.length > (best?.length ?? 0)) best = found
  }
  return best
}

function recognizeConnector(reader: PhraseReader, context: Context): Recognized | undefined {
  if (reader.take('or')) return reader.means({ kind: 'or' })
  if (reader.take('and', '&', 'but', 'also', 'plus')) return reader.means({ kind: 'and' })
  if (reader.take('the most')) return reader.means({ kind: 'nothing' })
  const not = reader.take(
    ...[
      'everything but',
      'anything but',
      'all but',
      'but not',
      'and not',
      'not from',
      'not by',
      'not in',
      'not',
      'except for',
      'except',
      'excluding',
      'exclude',
    ],
    ...[
      'without',
      'other than',
      'ignoring',
      'ignore',
      "isn't",
      "aren't",
      "wasn't",
      "doesn't",
      "didn't",
      "don't",
      'did not',
      'does not',
      'do not',
      'neither',
      'nor',
      'never',
      'non',
    ],
  )
  // "no tool calls", but "no" of words that mean nothing else is looked for with them.
  if (!not && reader.take('no')) {
    return context.begins(reader.at) ? reader.means({ kind: 'not' }) : undefined
  }
  if (!not) return undefined
  // "ignore previous instructions" asks for nothing that could be left out.
  const isOrder = not.startsWith('ignor') && !context.begins(reader.at)
  return reader.means({ kind: isOrder ? 'nothing' : 'not' })
}

/** `-tag`: no span of the trace has it. */
function tagConditions({ text, isWanted }: Word, hasTraces: boolean): Meaning[] {
  const has = hasTag(text)
  if (isWanted) return [has]
  const condition = hasTraces ? `not any_span(${has.text})` : `not coalesce(${has.text}, false)`
  return [{ kind: 'condition', text: condition, told: `not ${has.told}` }]
}

/** "compare a and b": groups by what they are values of, beside each other in all that is measured. */
function compared(reading: Reading, mentions: readonly Mention[], context: Context): Reading {
  const fields = reading.conditions.flatMap(({ field }) => (field ? [field] : []))
  const isOfSome = mentions.some(({ kind }) => kind === 'quantity')
  const isGivenGroups = reading.dimensions.length > 0
  return {
    ...reading,
    dimensions: isGivenGroups ? reading.dimensions : fields.slice(0, 1).map(dimensionOf),
    measures: [...reading.measures, ...(isOfSome ? [] : overview(context))],
  }
}

/** What groups are compared by when nothing is named. */
function overview(context: Context): Measure[] {
  const scores = context.vocabulary.scores.slice(0, 5).map(fieldQuantity)
  const others = (['duration', 'tokens', 'cost'] as const).map((name) => quantityOf(name, context))
  const count = { text: 'count(1)', alias: 'count', told: 'number of records' }
  return [count, ...[...scores, ...others].map(measureOf)]
}

type Mention = Extract<Meaning, { kind: 'mention' | 'quantity' }>

/** Decides what fields and quantities are for that were only mentioned. */
function settle(reading: Reading, mentions: readonly Mention[], words: readonly Word[]): Reading {
  const dimensions = [...reading.dimensions]
  const measures = [...reading.measures]
  const orders = [...reading.orders]
  const fields = mentions.flatMap((each) => (each.kind === 'mention' ? [each.dimension] : []))
  const quantities = mentions.flatMap((each) => (each.kind === 'quantity' ? [each.quantity] : []))
  const isAsked = words.some(({ plain }) =>
    /^(which|who|top|most|least|fewest|distinct|unique|different|compare)$/.test(plain),
  )
  const ordersGroups = orders.some(({ by }) => typeof by !== 'string')
  const groupsByMention =
    dimensions.length === 0 &&
    fields.length > 0 &&
    (isAsked || ordersGroups || measures.length > 0 || reading.limit !== undefined)
  if (groupsByMention) dimensions.push(...fields)
  // "most expensive model per day": what is put in order stands before what it is told by.
  else if (ordersGroups) dimensions.unshift(...fields)
  const isOnlyMeasured = measures.length === 0 && orders.length === 0 && fields.length === 0
  if (dimensions.length > 0 || isOnlyMeasured) {
    for (const quantity of quantities) {
      // "top 5 users by cost": what they are ordered by is what is shown.
      if (groupsByMention && orders.length === 0) orders.push({ by: quantity, direction: 'desc' })
      else measures.push(measureOf(quantity))
    }
  }
  return { ...reading, dimensions, measures, orders }
}
