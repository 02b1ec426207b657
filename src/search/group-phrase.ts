/** Counting and grouping: `average latency per model by day`, `how many errors`, `p95 cost by user`. */
import { printPath } from '../parser/print.ts'
import type {
  Context,
  Dimension,
  Meaning,
  Measure,
  PhraseReader,
  Quantity,
  Recognized,
  Unit,
} from './phrase.ts'
import { aliasOf, anyScore, quantityOf, takeCounted, takeQuantity } from './quantity.ts'
import type { VocabularyField } from './vocabulary.ts'

export function recognizeGroup(reader: PhraseReader, context: Context): Recognized | undefined {
  const meanings =
    reader.attempt(() => takeMeasure(reader, context)) ??
    reader.attempt(() => takeDimensions(reader, context)) ??
    reader.attempt(() => takeComparison(reader)) ??
    reader.attempt(() => takeMention(reader, context))
  return meanings && reader.means(...meanings)
}

type Aggregate = (quantity: Quantity) => Measure | undefined

const aggregates: readonly (readonly [readonly string[], Aggregate])[] = [
  [['average', 'avg', 'mean', 'typical'], (quantity) => aggregate(quantity, 'avg', 'average')],
  [['median', 'p50'], (quantity) => percentile(quantity, 50)],
  [
    ['total', 'sum of', 'sum', 'overall', 'combined'],
    (quantity) => aggregate(quantity, 'sum', 'total'),
  ],
  [
    ['maximum', 'max', 'highest', 'longest', 'largest', 'peak'],
    (quantity) => aggregate(quantity, 'max', 'maximum'),
  ],
  [
    ['minimum', 'min', 'lowest', 'shortest', 'smallest'],
    (quantity) => aggregate(quantity, 'min', 'minimum'),
  ],
  [
    ['standard deviation of', 'stddev of', 'stddev'],
    (quantity) => aggregate(quantity, 'stddev', 'standard deviation of'),
  ],
]

function takeMeasure(reader: PhraseReader, context: Context): Meaning[] | undefined {
  const counted = reader.attempt(() => countedThings(reader, context))
  if (counted) return [{ kind: 'measure', measure: counted }]
  reader.take('the')
  const aggregated = reader.attempt(() => takeAggregates(reader, context))
  if (aggregated) return aggregated.map(({ measure }) => ({ kind: 'measure', measure }))
  const each = reader.attempt(() => {
    const quantity = takeMeasured(reader, context)
    const isOfOne = quantity?.row !== undefined && reader.take('per', 'a', 'each')
    return isOfOne && reader.take(...single) ? aggregate(quantity, 'avg', 'average') : undefined
  })
  if (each) return [{ kind: 'measure', measure: each }]
  const ranked =
    reader.attempt(() => takePercentile(reader, context)) ??
    reader.attempt(() => takePercentileAfter(reader, context))
  if (ranked) return [{ kind: 'measure', measure: ranked }]
  const rated = reader.attempt(() => {
    const quantity = takeCounted(reader)
    return quantity?.unit === 'share' ? quantity : undefined
  })
  return rated && [{ kind: 'measure', measure: measureOf(rated) }]
}

export interface Aggregated {
  readonly measure: Measure
  readonly unit: Unit
}

/** `average latency`, and of several the first: `p50 and p95 latency`. */
export function takeAggregated(reader: PhraseReader, context: Context): Aggregated | undefined {
  return reader.attempt(() => takeAggregates(reader, context)?.[0])
}

/** One quantity in one or several aggregates: `min and max latency`. */
function takeAggregates(reader: PhraseReader, context: Context): Aggregated[] | undefined {
  const makers: Aggregate[] = []
  do {
    const make = takeAggregate(reader)
    if (!make) return undefined
    makers.push(make)
  } while (reader.take('and', ',', '&', '/', 'or'))
  reader.take('of the', 'of', 'the')
  const quantity = takeMeasured(reader, context)
  if (quantity?.row === undefined) return undefined
  const made = makers.flatMap((make) => make(quantity) ?? [])
  return made.map((measure) => ({ measure, unit: quantity.unit }))
}

function takeAggregate(reader: PhraseReader): Aggregate | undefined {
  for (const [words, make] of aggregates) if (reader.take(...words)) return make
  const rank = reader.takeIf((word) => /^p(\d{1,2}(?:\.\d+)?)$/.exec(word)?.[1])
  return rank === undefined ? undefined : (quantity) => percentile(quantity, Number(rank))
}

/** `p95 latency`, `95th percentile of cost`. */
function takePercentile(reader: PhraseReader, context: Context): Measure | undefined {
  const rank = reader.takeIf((word) => {
    const found = /^p(\d{1,2}(?:\.\d+)?)$/.exec(word) ?? /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word)
    return found ? { value: Number(found[1]), isOrdinal: !word.startsWith('p') } : undefined
  })
  if (!rank || (rank.isOrdinal && !reader.take('percentile'))) return undefined
  reader.take('percentile')
  reader.take('of the', 'of', 'the')
  const quantity = takeMeasured(reader, context)
  return quantity && percentile(quantity, rank.value)
}

/** `latency p99`. */
function takePercentileAfter(reader: PhraseReader, context: Context): Measure | undefined {
  const quantity = takeQuantity(reader, context)
  const rank = quantity && reader.takeIf((word) => /^p(\d{1,2}(?:\.\d+)?)$/.exec(word)?.[1])
  return quantity && rank !== undefined ? percentile(quantity, Number(rank)) : undefined
}

function takeMeasured(reader: PhraseReader, context: Context): Quantity | undefined {
  const quantity = takeQuantity(reader, context)
  if (quantity) {
    reader.take('score', 'scores')
    return quantity
  }
  return reader.take('score', 'scores', 'rating') ? anyScore(context) : undefined
}

/** `how many errors`, `number of distinct users`, `count of requests`, `count`. */
function countedThings(reader: PhraseReader, context: Context): Measure | undefined {
  reader.take('what is', 'show', 'get')
  if (reader.take('how long do', 'how long does', 'how long did')) {
    return measureOf(quantityOf('duration', context))
  }
  if (reader.take(...spendings)) return measureOf(quantityOf('cost', context))
  const opening = reader.take(
    ...[
      'how often do',
      'how often does',
      'how often did',
      'how often',
      'how many',
      'how much',
      'the number of',
      'number of',
      'the count of',
      'count of',
      'count the',
      'count',
    ],
    ...['the amount of', 'amount of'],
  )
  const isDistinct = reader.take('different', 'distinct', 'unique') !== undefined
  if (!opening && !isDistinct) return undefined
  if (!isDistinct) {
    const quantity = takeCounted(reader) ?? takeQuantity(reader, context)
    if (quantity) return measureOf(quantity)
  }
  const field = takeField(reader, context)
  if (field) {
    const path = printPath(field.path)
    const name = aliasOf(field.path.at(-1)!)
    return {
      text: `count_distinct(${path})`,
      alias: `${name}_count`,
      told: `number of different ${path}`,
    }
  }
  // "how much did alice cost": the quantity comes later.
  if (isDistinct || opening === 'how much') return undefined
  return { text: 'count(1)', alias: 'count', told: 'number of records' }
}

const spendings = [
  ...['how much did we spend', 'how much have we spent', 'how much was spent'],
  ...['how much did it cost', 'how much does it cost', 'how much money', 'what did we spend'],
  ...['what did it cost', 'how much do we spend'],
]

export function measureOf({ group, name, told }: Quantity): Measure {
  return { text: group, alias: aliasOf(name), told }
}

function aggregate(quantity: Quantity, name: string, told: string): Measure {
  return {
    text: `${name}(${quantity.row})`,
    alias: aliasOf(`${name} ${quantity.name}`),
    told: `${told} ${quantity.name}`,
  }
}

function percentile({ row, name }: Quantity, rank: number): Measure | undefined {
  if (row === undefined) return undefined
  return {
    text: `percentile(${row}, ${Number((rank / 100).toPrecision(6))})`,
    alias: aliasOf(`p${rank} ${name}`),
    told: `${rank}th percentile of ${name}`,
  }
}

const openings = [
  ...[
    'for every',
    'for each',
    'per',
    'grouped by',
    'group by',
    'broken down by',
    'break down by',
    'split by',
  ],
  ...['across', 'by each', 'by', 'each', 'every', 'in each'],
]

function takeComparison(reader: PhraseReader): Meaning[] | undefined {
  const words = ['compare', 'comparison of', 'comparing', 'vs', 'versus']
  return reader.take(...words) ? [{ kind: 'compare' }] : undefined
}

/** Things that are counted one by one anyway: `tokens per request`. */
const single = [
  'request',
  'call',
  'span',
  'record',
  'row',
  'query',
  'run',
  'example',
  'item',
  'trace',
]

/** `per model by day`, `by user and model`, `over time`, `daily`. */
function takeDimensions(reader: PhraseReader, context: Context): Meaning[] | undefined {
  const adverb = reader.takeIf((word) => (Object.hasOwn(adverbs, word) ? adverbs[word] : undefined))
  if (adverb) return [{ kind: 'dimension', dimension: timeDimension(adverb) }]
  if (reader.take('over time', 'trend', 'timeline')) {
    return [{ kind: 'dimension', dimension: timeDimension('day') }]
  }
  const asked = reader.attempt(() => {
    reader.take('on', 'in')
    const unit = reader.take('which', 'what') && reader.takeIf(timeUnitOf)
    return unit || undefined
  })
  if (asked) return [{ kind: 'dimension', dimension: timeDimension(asked) }]
  if (!reader.take(...openings)) return undefined
  if (reader.take(...single)) return [{ kind: 'nothing' }]
  const dimensions: Dimension[] = []
  do {
    reader.take('each')
    const dimension = takeDimension(reader, context)
    if (dimension) dimensions.push(dimension)
    else break
  } while (reader.attempt(() => takeJoint(reader, context)))
  if (dimensions.length === 0) return undefined
  return dimensions.map((dimension) => ({ kind: 'dimension', dimension }))
}

/** `and` or a comma, if another dimension follows. */
function takeJoint(reader: PhraseReader, context: Context): true | undefined {
  if (!reader.take('and', ',', '/')) return undefined
  const before = reader.at
  const follows = takeDimension(reader, context) !== undefined
  reader.at = before
  return follows ? true : undefined
}

const adverbs: Readonly<Record<string, TimeUnit>> = {
  daily: 'day',
  hourly: 'hour',
  weekly: 'week',
  monthly: 'month',
  yearly: 'year',
}

const timeUnits = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const

type TimeUnit = (typeof timeUnits)[number]

export function timeUnitOf(word: string): TimeUnit | undefined {
  return timeUnits.find((each) => each === word)
}

function takeDimension(reader: PhraseReader, context: Context): Dimension | undefined {
  if (reader.take('hour of the day', 'hour of day')) {
    return {
      text: "date_part('hour', created)",
      alias: 'hour',
      told: 'hour of the day',
      isTime: true,
    }
  }
  if (reader.take('day of the week', 'day of week', 'weekday')) {
    const text = "date_part('dow', created)"
    return { text, alias: 'weekday', told: 'day of the week', isTime: true }
  }
  const unit = reader.takeIf(timeUnitOf)
  if (unit) return timeDimension(unit)
  if (reader.take('date')) return timeDimension('day')
  if (reader.take('span type', 'type of span', 'type')) {
    return { text: 'span_attributes.type', alias: 'type', told: 'type of span', isTime: false }
  }
  if (reader.take('span name', 'name of span', 'operation')) {
    return { text: 'span_attributes.name', alias: 'name', told: 'name of span', isTime: false }
  }
  if (reader.take('tool name', 'tool')) return tool
  if (reader.take('error message', 'error messages', 'kind of error')) return errorMessage
  if (reader.plain(1) !== 'rate' && reader.take('error')) return errorMessage
  const field = takeField(reader, context)
  return field && dimensionOf(field)
}

export const tool: Dimension = {
  text: "span_attributes.type = 'tool' ? span_attributes.name : null",
  alias: 'tool',
  told: 'tool',
  isTime: false,
}

export const toolSpans: Meaning = {
  kind: 'condition',
  text: "span_attributes.type = 'tool'",
  told: 'spans of type tool',
}

const errorMessage: Dimension = { text: 'error', alias: 'error', told: 'error', isTime: false }

export function timeDimension(unit: TimeUnit): Dimension {
  return { text: `${unit}(created)`, alias: unit, told: unit, isTime: true }
}

export function dimensionOf({ path }: VocabularyField): Dimension {
  const text = printPath(path)
  return { text, alias: aliasOf(path.at(-1)!), told: text, isTime: false }
}

/** A field whose values tell groups apart: nothing that was measured or written. */
function takeField(
  reader: PhraseReader,
  { vocabulary }: Context,
  isMeant: (field: VocabularyField) => boolean = () => true,
): VocabularyField | undefined {
  return reader.takeRun(vocabulary.longestName, (words) => {
    return vocabulary.named(words).find((field) => {
      const { path, isValue } = field
      return isValue && !ungrouped.has(path[0]!) && isMeant(field)
    })
  })
}

/** A field that groups are named by: `users`, not a number of theirs. */
export function takeGroupField(
  reader: PhraseReader,
  context: Context,
): VocabularyField | undefined {
  return takeField(reader, context, ({ isNumeric }) => !isNumeric)
}

const kindsOfErrors = [
  ...['most common errors', 'most frequent errors', 'common errors', 'error messages'],
  ...['kinds of errors', 'top errors', 'most common error', 'types of errors'],
]

const ungrouped = new Set(['scores', 'metrics', 'input', 'output', 'expected', 'error'])

/** `users`, `cost`: what becomes of it depends on the other words. */
function takeMention(reader: PhraseReader, context: Context): Meaning[] | undefined {
  reader.take('the')
  const isAsked = reader.take('which', 'what') !== undefined
  if (!isAsked) reader.take('distinct', 'different', 'unique', 'all')
  if (!isAsked && reader.start === 0 && reader.take('who')) {
    const [person] = context.vocabulary.named('user')
    return person && [{ kind: 'mention', dimension: dimensionOf(person) }]
  }
  if (reader.take(...kindsOfErrors)) {
    return [
      { kind: 'condition', text: 'error is not null', told: 'with an error' },
      { kind: 'dimension', dimension: errorMessage },
    ]
  }
  const quantity = takeQuantity(reader, context)
  if (quantity) return [{ kind: 'quantity', quantity }]
  if (reader.take('tools') || (isAsked && reader.take('tool'))) {
    return [toolSpans, { kind: 'mention', dimension: tool }]
  }
  const field = takeField(reader, context)
  return field && [{ kind: 'mention', dimension: dimensionOf(field) }]
}
