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
  const conditions: Condition[] = []
  const orders: Order[] = []
  const measures: Measure[] = []
  const dimensions: Dimension[] = []
  const mentions: Mention[] = []
  const havings: Having[] = []
  let terms: Term[] = []
  let limit: number | undefined
  let isNegated = false
  let isAlternative = false
  let isCompared = false
  let wasNegated = false
  let lastField: VocabularyField | undefined
  let stretch = 0
  const symbols: Word[] = []
  /** Words that are looked for or else what was said before them. */
  let alternatives: Term[] | undefined
  let lastWas: 'condition' | 'term' | undefined
  const context: Context = {
    ...request,
    rows,
    begins: (at) =>
      recognizers.some((recognize) => recognize(new PhraseReader(words, at), context)),
  }
  const take = (meaning: Meaning): void => {
    switch (meaning.kind) {
      case 'condition': {
        const { text, told, field, negated = `not (${text})` } = meaning
        // Of one field, a second value is another that is meant, or another that is not.
        const isSecond =
          field !== undefined && lastField !== undefined && samePath(field.path, lastField.path)
        const isUnwanted = isNegated || (isSecond && wasNegated)
        if (isAlternative && lastWas === 'term') {
          // "refunds or errors": words beside `or` are looked for as one of two.
          const beside = terms.filter((term) => term.stretch === stretch && !term.isUnwanted)
          terms = terms.filter((term) => !beside.includes(term))
          conditions.push(...(beside.length > 0 ? [lookedFor(beside, false)] : []))
        }
        conditions.push({
          text: isUnwanted ? negated : text,
          told: isUnwanted ? `not: ${told}` : told,
          field,
          isAlternative: isSecond ? !isUnwanted : isAlternative,
        })
        lastField = field
        wasNegated = isUnwanted
        isNegated = false
        isAlternative = false
        alternatives = undefined
        lastWas = 'condition'
        return
      }
      case 'having':
        havings.push(meaning.having)
        return
      case 'order':
        orders.push(meaning.order)
        return
      case 'limit':
        limit = meaning.count
        return
      case 'measure':
        measures.push(meaning.measure)
        return
      case 'dimension':
        dimensions.push(meaning.dimension)
        return
      case 'mention':
      case 'quantity':
        mentions.push(meaning)
        return
      case 'not':
        isNegated = !isNegated
        return
      case 'or':
        isAlternative = true
        return
      case 'compare':
        isCompared = true
        return
      case 'and':
      case 'nothing':
        return
    }
  }
  let at = 0
  while (at < words.length) {
    const word = words[at]!
    if (word.kind === 'tag') {
      for (const condition of tagConditions(word, request.hasTraces)) take(condition)
      at++
      continue
    }
    const found = longest(words, at, context)
    if (found) {
      found.meanings.forEach(take)
      if (found.meanings.some(({ kind }) => kind !== 'or' && kind !== 'not')) {
        stretch++
        alternatives = undefined
      }
      at += found.length
      continue
    }
    const again =
      isAlternative && lastField?.isText
        ? anotherValue(new PhraseReader(words, at), lastField)
        : undefined
    if (again) {
      again.meanings.forEach(take)
      at += again.length
      continue
    }
    const count = lookedForTogether(words, at, context)
    if (isComparison(word)) symbols.push(word)
    if (count > 1 || isLookedFor(word)) {
      const term = {
        text: count > 1 ? request.text.slice(word.from, words[at + count - 1]!.to) : word.text,
        isPhrase: word.kind === 'phrase',
        isUnwanted: isNegated,
        isAlternative: isAlternative && !isNegated && terms.at(-1)?.isUnwanted === false,
        stretch,
      }
      if (isAlternative && !isNegated && lastWas === 'condition') alternatives = []
      if (alternatives && !isNegated) {
        // "errors or refund policy": all words up to the next that mean something else.
        if (alternatives.length > 0) conditions.pop()
        alternatives.push({ ...term, isAlternative: isAlternative && alternatives.length > 0 })
        conditions.push(lookedFor(alternatives, true))
      } else {
        terms.push(term)
        lastWas = 'term'
      }
      isNegated = false
      isAlternative = false
    }
    at += count
  }
  const isEmpty = [conditions, orders, measures, dimensions, mentions, havings, terms].every(
    ({ length }) => length === 0,
  )
  // Of a comparison of nothing, its sign is meant.
  if (isEmpty && limit === undefined) terms = symbols.map(signTerm)
  const reading = { conditions, orders, limit, measures, dimensions, havings, terms }
  return settle(isCompared ? compared(reading, mentions, context) : reading, mentions, words)
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
