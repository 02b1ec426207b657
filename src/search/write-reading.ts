/** Writes what was read of a search as clauses, and tells it in a line. */
import { printString } from '../parser/print.ts'
import { measureOf } from './group-phrase.ts'
import type { Dimension, Having, Measure, Order } from './phrase.ts'
import { searches, searchText, type Term, toldTerms } from './search-terms.ts'
import type { VocabularyField } from './vocabulary.ts'

export interface Translation {
  /** `full_text`: only words to look for. */
  readonly kind: 'translated' | 'full_text'
  /** Clauses without a source, one a line. */
  readonly clauses: string
  /** The shape that the source is to have. */
  readonly shape: 'summary' | undefined
  /** What the words were taken for, in a line. */
  readonly explanation: string
}

/** What was read, in the order it was said. */
export interface Reading {
  readonly conditions: readonly Condition[]
  readonly orders: readonly Order[]
  readonly limit: number | undefined
  readonly measures: readonly Measure[]
  readonly dimensions: readonly Dimension[]
  readonly havings: readonly Having[]
  readonly terms: readonly Term[]
}

export interface Condition {
  readonly text: string
  readonly field: VocabularyField | undefined
  readonly told: string
  /** Joined to the one before by `or`. */
  readonly isAlternative: boolean
}

export function isGrouped({ measures, dimensions }: Reading): boolean {
  return measures.length > 0 || dimensions.length > 0
}

export function write(reading: Reading, shape: 'summary' | undefined): Translation {
  const { conditions, terms } = reading
  const filters = groupAlternatives(conditions)
  const told: string[] = []
  const wanted = terms.filter(({ isUnwanted }) => !isUnwanted)
  const unwanted = terms.filter(({ isUnwanted }) => isUnwanted)
  filters.push(...searches(wanted))
  const isOfErrors = conditions.some(({ text }) => text === 'error is not null')
  const kinds = unwanted.filter(({ isPhrase }) => isOfErrors && !isPhrase)
  const absent = unwanted.filter((term) => !kinds.includes(term))
  for (const term of absent) filters.push(`not search(${printString(searchText([term]))})`)
  for (const { text } of kinds) filters.push(...noErrorsOf(text))
  const clauses = isGrouped(reading) ? writeGroups(reading, told) : writeRows(reading, told)
  const filter = filters.length === 0 ? [] : [`filter: ${filters.join(' and ')}`]
  const [head, ...rest] = clauses
  const explanation = [
    ...(shape ? ['traces'] : []),
    ...toldConditions(conditions),
    ...(wanted.length > 0 ? [`the text has ${toldTerms(wanted)}`] : []),
    ...(absent.length > 0 ? [`the text does not have ${toldTerms(absent)}`] : []),
    ...kinds.map(({ text }) => `the error does not say ${toldKind(text)}`),
    ...told,
  ]
  const isPlain = clauses.length === 1 && conditions.length === 0 && shape === undefined
  return {
    kind: isPlain && wanted.length > 0 ? 'full_text' : 'translated',
    clauses: [head, ...filter, ...rest].join('\n'),
    shape,
    explanation: explanation.length === 0 ? 'everything, newest first' : explanation.join('; '),
  }
}

/** "errors except timeouts": of a kind of error, which is named in the plural, in messages and in names of types. */
function noErrorsOf(kind: string): string[] {
  return partsOfKind(kind).map((part) => {
    // Of several words, names of types have none between them, or other signs: RateLimitError.
    const pattern = part.replace(/[%_\\]/g, '\\$&').replace(/\s+/g, '%')
    return `error not ilike ${printString(`%${pattern}%`)}`
  })
}

function toldKind(kind: string): string {
  return partsOfKind(kind)
    .map((part) => `"${part}"`)
    .join(' or ')
}

/** What errors of a kind say. */
function partsOfKind(kind: string): readonly string[] {
  const one = kind.toLowerCase().replace(/(?<=\w{3})s$/, '')
  return one === 'timeout' ? ['timeout', 'timed out'] : [one]
}

function writeRows({ orders, limit, terms }: Reading, told: string[]): string[] {
  const wanted = terms.filter(({ isUnwanted }) => !isUnwanted)
  const sorts = orders.flatMap(({ by, direction }) => {
    if (by === 'relevance') {
      if (wanted.length === 0) return []
      told.push('those that fit best first')
      return [`search_score(${printString(searchText(wanted))}) desc`]
    }
    const text = by === 'created' ? by : by.row
    if (text === undefined) return []
    told.push(
      `sorted by ${by === 'created' ? 'time' : by.name}, ${toldDirection(by, direction)} first`,
    )
    return [`${text} ${direction}`]
  })
  if (limit !== undefined) told.push(`the first ${limit}`)
  return [
    'select: *',
    ...(sorts.length > 0 ? [`sort: ${sorts.join(', ')}`] : []),
    ...(limit === undefined ? [] : [`limit: ${limit}`]),
  ]
}

function writeGroups(reading: Reading, told: string[]): string[] {
  const { orders, limit } = reading
  const names = new Set<string>()
  const named = <Column extends Dimension | Measure>(column: Column): Column => {
    let alias = column.alias
    for (let n = 2; names.has(alias); n++) alias = `${column.alias}_${n}`
    names.add(alias)
    return { ...column, alias }
  }
  const dimensions = unique(reading.dimensions).map(named)
  const ordered = orders.flatMap(({ by, direction }) => {
    return typeof by === 'string' ? [] : [{ measure: measureOf(by), direction }]
  })
  const wanted = unique([
    ...reading.measures,
    ...ordered.map(({ measure }) => measure),
    ...reading.havings.map(({ measure }) => measure),
  ])
  const count = { text: 'count(1)', alias: 'count', told: 'number of records' }
  const measures = (wanted.length > 0 ? wanted : [count]).map(named)
  const sorts = ordered.map(({ measure, direction }) => {
    return `${measures.find(({ text }) => text === measure.text)!.alias} ${direction}`
  })
  const tests = reading.havings.map(({ measure, test, told: of }) => {
    told.push(`only groups of which ${of}`)
    return `${measures.find(({ text }) => text === measure.text)!.alias} ${test}`
  })
  if (sorts.length === 0) {
    const times = dimensions.filter(({ isTime }) => isTime).map(({ alias }) => alias)
    if (dimensions.length > 0)
      sorts.push(...(times.length > 0 ? times : [`${measures[0]!.alias} desc`]))
  }
  const by = dimensions.map((dimension) => dimension.told)
  told.push(
    `${measures.map((measure) => measure.told).join(', ')}${by.length > 0 ? ` by ${by.join(' and ')}` : ''}`,
  )
  if (limit !== undefined && dimensions.length > 0) told.push(`the first ${limit}`)
  return [
    ...(dimensions.length > 0
      ? [`dimensions: ${columns(dimensions)}\nmeasures: ${columns(measures)}`]
      : [`measures: ${columns(measures)}`]),
    ...(tests.length > 0 ? [`final_filter: ${tests.join(' and ')}`] : []),
    ...(sorts.length > 0 ? [`sort: ${sorts.join(', ')}`] : []),
    ...(limit !== undefined && dimensions.length > 0 ? [`limit: ${limit}`] : []),
  ]
}

function columns(list: readonly { readonly text: string; readonly alias: string }[]): string {
  return list.map(({ text, alias }) => `${text} as ${alias}`).join(', ')
}

function unique<Column extends { readonly text: string }>(list: readonly Column[]): Column[] {
  return list.filter((column, i) => list.findIndex(({ text }) => text === column.text) === i)
}

/** `or` joins what stands beside it, before the rest is joined by `and`. */
function groupAlternatives(conditions: readonly Condition[]): string[] {
  const groups: string[][] = []
  for (const { text, isAlternative } of conditions) {
    if (isAlternative && groups.length > 0) groups.at(-1)!.push(text)
    else groups.push([text])
  }
  return groups.map((group) => {
    if (group.length > 1) return `(${group.join(' or ')})`
    return group[0]!
  })
}

function toldConditions(conditions: readonly Condition[]): string[] {
  const groups: string[][] = []
  for (const { told, isAlternative } of conditions) {
    if (isAlternative && groups.length > 0) groups.at(-1)!.push(told)
    else groups.push([told])
  }
  return groups.map((group) => group.join(' or '))
}

function toldDirection(by: Order['by'], direction: Order['direction']): string {
  if (by === 'created') return direction === 'desc' ? 'newest' : 'oldest'
  return direction === 'desc' ? 'highest' : 'lowest'
}
