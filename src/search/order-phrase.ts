/** Orders and how many: `slowest`, `worst Factuality first`, `top 20`, `sorted by cost`. */

import { printPath } from '../parser/print.ts'
import { takeCount } from './amount.ts'
import { takeGroupField, timeDimension, timeUnitOf } from './group-phrase.ts'
import {
  type Context,
  type Meaning,
  type Order,
  PhraseReader,
  type Quantity,
  type Recognized,
} from './phrase.ts'
import { anyScore, countOf, quantityOf, takeCounted, takeQuantity } from './quantity.ts'

const superlatives: readonly (readonly [
  readonly string[],
  'duration' | 'cost' | 'tokens' | 'created',
  Order['direction'],
])[] = [
  [
    ['slowest', 'longest running', 'longest-running', 'longest', 'most time consuming'],
    'duration',
    'desc',
  ],
  [['fastest', 'quickest', 'shortest'], 'duration', 'asc'],
  [['most expensive', 'costliest', 'priciest'], 'cost', 'desc'],
  [['cheapest', 'least expensive'], 'cost', 'asc'],
  [
    ['newest', 'latest', 'most recent', 'recent', 'newest first', 'latest first'],
    'created',
    'desc',
  ],
  [['oldest', 'earliest', 'oldest first'], 'created', 'asc'],
]

const things = [
  'records',
  'rows',
  'logs',
  'requests',
  'calls',
  'results',
  'spans',
  'traces',
  'entries',
  'events',
  'runs',
  'examples',
  'items',
  'answers',
  'responses',
]

/** Words that ask for no number: the most of it comes first. */
const levels: readonly (readonly [
  readonly string[],
  'duration' | 'cost' | 'score',
  Order['direction'],
])[] = [
  [['slow', 'very slow', 'long running', 'long-running'], 'duration', 'desc'],
  [['fast', 'quick'], 'duration', 'asc'],
  [['expensive', 'costly', 'very expensive'], 'cost', 'desc'],
  [['cheap', 'inexpensive'], 'cost', 'asc'],
  [['bad', 'poor', 'weak'], 'score', 'asc'],
]

const relevance = [
  ...['sorted by relevance', 'sort by relevance', 'ranked by relevance', 'rank by relevance'],
  ...['ordered by relevance', 'order by relevance', 'by relevance', 'most relevant first'],
  ...['most relevant', 'best matches first', 'best matches', 'best match first', 'best match'],
]

export function recognizeOrder(reader: PhraseReader, context: Context): Recognized | undefined {
  if (reader.take(...relevance)) {
    return reader.means({ kind: 'order', order: { by: 'relevance', direction: 'desc' } })
  }
  const meanings =
    reader.attempt(() => tooLong(reader, context)) ??
    reader.attempt(() => mostDone(reader, context)) ??
    reader.attempt(() => textLength(reader)) ??
    reader.attempt(() => level(reader, context)) ??
    reader.attempt(() => theLast(reader)) ??
    reader.attempt(() => explicitOrder(reader, context)) ??
    reader.attempt(() => superlative(reader, context)) ??
    reader.attempt(() => quantityWithDirection(reader, context)) ??
    reader.attempt(() => countAlone(reader))
  return meanings && reader.means(...meanings)
}

/** `sorted by cost`, `order by latency ascending`, `by highest cost`. */
function explicitOrder(reader: PhraseReader, context: Context): Meaning[] | undefined {
  const opening = reader.take(
    ...[
      'sorted by',
      'sort by',
      'order by',
      'ordered by',
      'ranked by',
      'rank by',
      'sorted on',
      'sorted',
    ],
  )
  if (!opening) return undefined
  const first = orderBy(reader, context)
  if (!first) return undefined
  const orders = [...first]
  for (;;) {
    const next = reader.attempt(() => {
      return reader.take('and then by', 'and then', 'then by', 'then', ', then by', ', then')
        ? orderBy(reader, context)
        : undefined
    })
    if (!next) return orders
    orders.push(...next)
  }
}

function orderBy(reader: PhraseReader, context: Context): Meaning[] | undefined {
  const best = takeExtreme(reader)
  reader.take('the')
  const by =
    takeTime(reader) ??
    takeCounted(reader) ??
    takeQuantity(reader, context) ??
    takeScore(reader, context)
  if (by) {
    const direction = takeDirection(reader) ?? (best === 'low' ? 'asc' : 'desc')
    return [{ kind: 'order', order: { by, direction } }]
  }
  const words = best ? undefined : reader.attempt(() => superlative(reader, context))
  if (words) return words
  const field = takeGroupField(reader, context)
  if (!field) return undefined
  const row = printPath(field.path)
  const byField: Quantity = { name: row, row, group: `min(${row})`, told: row, unit: 'none' }
  const direction = takeDirection(reader) ?? 'asc'
  return [{ kind: 'order', order: { by: byField, direction } }]
}

/** `20 slowest`, `worst Factuality first`, `with the most tokens`, `highest cost`. */
function superlative(reader: PhraseReader, context: Context): Meaning[] | undefined {
  reader.take('with the', 'with', 'has the', 'have the', 'had the', 'has', 'have', 'the', 'by')
  reader.take('top', 'first')
  const before = takeCount(reader)
  const limit: Meaning[] = before === undefined ? [] : [{ kind: 'limit', count: before }]
  for (const [phrases, name, direction] of superlatives) {
    if (!reader.take(...phrases)) continue
    const after = before === undefined ? takeCount(reader) : undefined
    if (after !== undefined) limit.push({ kind: 'limit', count: after })
    reader.take('first')
    const by = name === 'created' ? name : quantityOf(name, context)
    const order: Meaning = { kind: 'order', order: { by, direction } }
    return [...limit, order, ...(name === 'created' ? [] : takeTimeGroups(reader))]
  }
  const extreme = takeExtreme(reader) ?? takeLevel(reader)
  if (!extreme) return undefined
  const after = before === undefined ? takeCount(reader) : undefined
  if (after !== undefined) limit.push({ kind: 'limit', count: after })
  const isOfThings = reader.attempt(() => {
    return reader.takeIf((word) => things.includes(word) || undefined) && reader.take('by', 'in')
  })
  if (!isOfThings) reader.take('by')
  reader.take('average', 'mean', 'total', 'overall', 'number of', 'count of')
  const by = takeSuperlativeQuantity(reader, context, extreme)
  if (!by) return undefined
  reader.take('scores', 'score', 'first')
  reader.take('first')
  const order: Meaning = { kind: 'order', order: { by, direction: directionOf(extreme) } }
  return [...limit, order, ...(extreme.endsWith('used') ? takeTimeGroups(reader) : [])]
}

/** `busiest hour`, `slowest day`: times are what is put in order. */
function takeTimeGroups(reader: PhraseReader): Meaning[] {
  const unit = reader.takeIf((word) => timeUnitOf(word.replace(/s$/, '')))
  return unit ? [{ kind: 'dimension', dimension: timeDimension(unit) }] : []
}

/** `took ages`, `takes too long`: no number is said, so the longest come first. */
function tooLong(reader: PhraseReader, context: Context): Meaning[] | undefined {
  const isTold = reader.take('took', 'take', 'takes', 'taking', 'lasted', 'ran') !== undefined
  const lengths = ['ages', 'forever', 'very long', 'way too long', 'too long', 'so long']
  const alone = ['too slow', 'really slow', 'super slow', 'way too slow', 'a very long time']
  if (!reader.take(...(isTold ? [...lengths, 'a long time', ...alone] : alone))) return undefined
  return [{ kind: 'order', order: { by: quantityOf('duration', context), direction: 'desc' } }]
}

const doings: readonly (readonly [verbs: readonly string[], of: 'errors' | 'cost' | 'requests'])[] =
  [
    [['fails', 'failed', 'fail', 'errors', 'errored', 'breaks'], 'errors'],
    [['costs', 'cost', 'spends', 'spent', 'spend'], 'cost'],
    [['is used', 'was used', 'used', 'is called', 'called'], 'requests'],
  ]

/** `fails the most`, `spent the least`, `is used most often`. */
function mostDone(reader: PhraseReader, context: Context): Meaning[] | undefined {
  for (const [verbs, of] of doings) {
    if (!reader.take(...verbs)) continue
    const most = reader.take('the most often', 'most often', 'the most', 'most')
    const isMost = most !== undefined
    if (!isMost && !reader.take('the least often', 'least often', 'the least', 'least')) {
      return undefined
    }
    // "used the most tokens" says itself what is counted.
    const next = new PhraseReader(reader.words, reader.at)
    if (takeCounted(next) ?? takeQuantity(next, context)) return undefined
    const by = of === 'cost' ? quantityOf('cost', context) : countOf(of)
    return [{ kind: 'order', order: { by, direction: isMost ? 'desc' : 'asc' } }]
  }
  return undefined
}

const textNames: Readonly<Record<string, string>> = {
  inputs: 'input',
  prompts: 'input',
  questions: 'input',
  outputs: 'output',
  answers: 'output',
  responses: 'output',
}

/** `longest outputs`: of texts it is their length. */
function textLength(reader: PhraseReader): Meaning[] | undefined {
  reader.take('the', 'top')
  const count = takeCount(reader)
  const isLong = reader.take('longest', 'largest', 'biggest') !== undefined
  if (!isLong && !reader.take('shortest', 'smallest')) return undefined
  const field = reader.takeIf((word) =>
    Object.hasOwn(textNames, word) ? textNames[word] : undefined,
  )
  if (!field) return undefined
  const row = `length(to_string(${field}))`
  const name = `length of ${field}`
  const by: Quantity = { name, row, group: `avg(${row})`, told: `average ${name}`, unit: 'none' }
  return [
    ...(count === undefined ? [] : [{ kind: 'limit', count } as const]),
    { kind: 'order', order: { by, direction: isLong ? 'desc' : 'asc' } },
  ]
}

/** `when was the last error`, `the last request`: one, and the newest. */
function theLast(reader: PhraseReader): Meaning[] | undefined {
  const opening = reader.take('when was the', 'when is the', 'show the', 'the')
  if (!opening || !reader.take('last', 'latest', 'most recent', 'newest')) return undefined
  const one = ['error', 'failure', 'request', 'call', 'run', 'trace', 'record', 'log', 'exception']
  if (!one.includes(reader.plain())) return undefined
  return [
    { kind: 'limit', count: 1 },
    { kind: 'order', order: { by: 'created', direction: 'desc' } },
  ]
}

/** `slow requests`, `expensive llm calls`, `bad answers`. */
function level(reader: PhraseReader, context: Context): Meaning[] | undefined {
  for (const [words, name, direction] of levels) {
    if (!reader.take(...words)) continue
    // "cached and fast": it says something of the same things as what it is joined to.
    const isJoined = reader.start > 0 && /^(and|but|,)$/.test(reader.words[reader.start - 1]!.plain)
    const isOfThings = isJoined || [...things, 'llm', 'tool', 'queries'].includes(reader.plain())
    const isOfGroups = context.vocabulary.named(reader.plain()).some(({ isText }) => isText)
    if (!isOfThings && !isOfGroups) return undefined
    const by = name === 'score' ? anyScore(context) : quantityOf(name, context)
    return by && [{ kind: 'order', order: { by, direction } }]
  }
  return undefined
}

/** `most` and `fewest` count things; `worst` and `best` are of scores. */
function takeSuperlativeQuantity(
  reader: PhraseReader,
  context: Context,
  extreme: Extreme,
): Quantity | undefined {
  // What is used most often is told by the words that follow, which are read for themselves.
  if (extreme === 'used' || extreme === 'unused') return mostUsed
  const quantity =
    takeCounted(reader) ?? takeQuantity(reader, context) ?? takeScore(reader, context)
  // "worst answers": by the score there is, or the one that most records have.
  const isOfScores = extreme === 'worst' || extreme === 'best'
  return quantity ?? (isOfScores ? anyScore(context) : undefined)
}

const mostUsed: Quantity = {
  name: 'count',
  row: undefined,
  group: 'count(1)',
  told: 'number of records',
  unit: 'none',
}

type Extreme = 'high' | 'low' | 'best' | 'worst' | 'used' | 'unused'

function takeExtreme(reader: PhraseReader): Extreme | undefined {
  for (const [extreme, phrases] of extremes) if (reader.take(...phrases)) return extreme
  return undefined
}

/** Longer phrases come before those that they begin with. */
const extremes: readonly (readonly [Extreme, readonly string[]])[] = [
  ['used', ['most used', 'most common', 'most frequent', 'most active', 'most popular', 'busiest']],
  [
    'unused',
    ['least used', 'least common', 'least frequent', 'least active', 'least popular', 'quietest'],
  ],
  ['worst', ['worst scoring', 'lowest scoring', 'lowest-scoring', 'worst', 'poorest', 'bottom']],
  ['best', ['best scoring', 'highest scoring', 'highest-scoring', 'top scoring', 'best']],
  ['high', ['most', 'highest', 'largest', 'biggest', 'greatest']],
  ['low', ['least', 'fewest', 'lowest', 'smallest']],
]

/** `high cost`, `low Factuality`. */
function takeLevel(reader: PhraseReader): Extreme | undefined {
  if (reader.take('high', 'large', 'big')) return 'high'
  return reader.take('low', 'small') ? 'low' : undefined
}

function directionOf(extreme: Extreme): Order['direction'] {
  return extreme === 'low' || extreme === 'worst' || extreme === 'unused' ? 'asc' : 'desc'
}

/** `latency descending`, `Factuality lowest first`. */
function quantityWithDirection(reader: PhraseReader, context: Context): Meaning[] | undefined {
  reader.take('by')
  const by = takeTime(reader) ?? takeQuantity(reader, context) ?? takeScore(reader, context)
  const direction = by && takeDirection(reader)
  return by && direction ? [{ kind: 'order', order: { by, direction } }] : undefined
}

function takeDirection(reader: PhraseReader): Order['direction'] | undefined {
  reader.take(',', 'in')
  if (
    reader.take(
      ...[
        'descending order',
        'descending',
        'desc',
        'high to low',
        'highest to lowest',
        'highest first',
      ],
      ...[
        'largest first',
        'longest first',
        'slowest first',
        'newest first',
        'most first',
        'best first',
        'biggest first',
      ],
    )
  ) {
    return 'desc'
  }
  return reader.take(
    ...['ascending order', 'ascending', 'asc', 'low to high', 'lowest to highest', 'lowest first'],
    ...[
      'smallest first',
      'shortest first',
      'fastest first',
      'oldest first',
      'least first',
      'worst first',
    ],
  )
    ? 'asc'
    : undefined
}

function takeTime(reader: PhraseReader): 'created' | undefined {
  return reader.take('time', 'date', 'created', 'creation time', 'age') ? 'created' : undefined
}

function takeScore(reader: PhraseReader, context: Context): Quantity | undefined {
  return reader.take('score', 'scores', 'rating', 'quality') ? anyScore(context) : undefined
}

/** `top 20`, `first 10`, `limit 5`, `last 20 traces`, `20 traces`. */
function countAlone(reader: PhraseReader): Meaning[] | undefined {
  reader.take('the')
  const opening = reader.take(
    'top',
    'first',
    'limit',
    'limit to',
    'show',
    'at most',
    'last',
    'latest',
    'sample of',
  )
  const count = takeCount(reader)
  if (count === undefined || count === 0 || !Number.isInteger(count)) return undefined
  const isOfThings = things.includes(reader.plain())
  if (!opening || opening === 'last' || opening === 'latest' || opening === 'at most') {
    if (!isOfThings) return undefined
  }
  const limit: Meaning = { kind: 'limit', count }
  const isLatest = opening === 'last' || opening === 'latest'
  return isLatest
    ? [limit, { kind: 'order', order: { by: 'created', direction: 'desc' } }]
    : [limit]
}
