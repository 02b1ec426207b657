/** Queries of the fields that a segment has, of each kind that people ask. */
import type { ColumnMetadata, SegmentMetadata } from '../storage/segment/metadata.ts'

/** Names a query with other constants for each number, as each ask of people has others. */
export type TypicalQuery = (turn: number) => string

/** @param ids of some records; none: nothing is looked up */
export function typicalQueries(
  { columns }: Pick<SegmentMetadata, 'columns'>,
  ids: readonly string[],
): TypicalQuery[] {
  const { number, other, name, kind } = fieldsOf(columns)
  const clauses: TypicalQuery[] = [
    (turn) => `measures: count(1) as n${turn}`,
    (turn) =>
      `dimensions: ${name} as k | measures: count(1) as n, avg(${number}) as a | filter: ${number} != ${turn}.5`,
    (turn) => `select: * | limit: ${10 + (turn % 20)}`,
    (turn) =>
      `measures: sum(${number}) as s, max(${number}) as m, min(${other}) as l | filter: ${name} != 'other ${turn}'`,
    (turn) =>
      `select: id, ${number} | filter: ${number} > ${turn % 10} | sort: ${number} desc | limit: ${10 + (turn % 50)}`,
    (turn) => `dimensions: day(created) as d, ${name} as k | measures: count(1) as n${turn}`,
    (turn) => `select: id | filter: input ILIKE '%word ${turn}%' | limit: 10`,
    (turn) => `measures: count(1) as n${turn} | filter: search('${wordOf(turn)}')`,
    (turn) =>
      `dimensions: ${name} as k | measures: count(1) as n${turn} | filter: output match '${wordOf(turn)} ${wordOf(turn + 1)}'`,
    (turn) =>
      `dimensions: ${name} as k | measures: percentile(${number}, 0.${50 + (turn % 49)}) as p, count(1) as n`,
    (turn) =>
      `dimensions: ${name} as k, ${kind} as l | measures: count_distinct(root_span_id) as n${turn}`,
    (turn) =>
      `dimensions: root_span_id as t | measures: count(1) as n | sort: n desc, t | limit: ${5 + (turn % 20)}`,
    (turn) =>
      `dimensions: hour(created) as h | measures: count(1) as n, sum(${number}) as s | filter: error is null and created > '2020-01-01' and ${number} < 1e9 + ${turn}`,
    (turn) =>
      `measures: count(1) as n | filter: ${name} in ['a', 'b ${turn}'] or ${number} between ${turn} and 1000 or ${kind} = 'c'`,
    (turn) =>
      `dimensions: ${kind} as k | measures: sum(${number} > ${turn} ? 1 : 0) as n, avg(${number} * 2 + ${other}) as a`,
    (turn) =>
      `dimensions: floor(${number} / ${10 + (turn % 90)}) as b | measures: count(1) as n | sort: b asc`,
    (turn) =>
      `select: * | filter: ${kind} != 'other ${turn}' and error is null | sort: created desc | limit: 20`,
    (turn) =>
      `select: id, ${name} as k, ${number} as v | filter: ${other} >= 0 | sort: k asc, v desc | limit: ${20 + (turn % 30)}`,
    (turn) => `measures: count(1) as n${turn} | filter: tags includes '${wordOf(turn)}'`,
    (turn) => `measures: count(1) as n${turn} | filter: ${name} ILIKE '%${'aeiou'[turn % 5]}%'`,
    (turn) =>
      `select: id, created | filter: output match '${wordOf(turn)}' | sort: created desc | limit: 10`,
    (turn) => `unpivot: tags as tag | dimensions: tag | measures: count(1) as n${turn}`,
    (turn) => `measures: count(1) as n${turn} | filter: metadata includes {"part": ${turn}}`,
  ]
  const traces: TypicalQuery[] = [
    (turn) =>
      `select: root_span_id, metrics.tokens as t | sort: t desc | limit: ${10 + (turn % 20)}`,
    (turn) =>
      `dimensions: ${name} as k | measures: count(1) as n${turn}, avg(metrics.duration) as s`,
  ]
  const lookUps: TypicalQuery[] = [
    (turn) => `select: * | filter: id = '${ids[turn % ids.length]}'`,
    (turn) => `select: * | filter: root_span_id = '${ids[turn % ids.length]}'`,
  ]
  return [
    ...[...clauses, ...(ids.length > 0 ? lookUps : [])].map(from('')),
    ...traces.map(from(' summary')),
  ]
}

function from(shape: string): (clauses: TypicalQuery) => TypicalQuery {
  return (clauses) => (turn) => `from: experiment('warm-up')${shape} | ${clauses(turn)}`
}

/** Two paths of numbers and two of names, the same twice where there is one. */
function fieldsOf(columns: readonly ColumnMetadata[]) {
  const named = columns.filter(({ path }) => path.length > 1 && path.every(isPlainName))
  const pathsOf = (fits: (column: ColumnMetadata) => boolean, fallback: string) => {
    const paths = named.filter(fits).map(({ path }) => path.join('.'))
    return [paths[0] ?? fallback, paths[1] ?? paths[0] ?? fallback] as const
  }
  const [number, other] = pathsOf(({ type }) => type === 'number', 'metrics.tokens')
  const [name, kind] = pathsOf(
    (column) => column.type === 'text' && isShort(column),
    'metadata.model',
  )
  return { number, other, name, kind }
}

/** Some are in the texts of any application, so that rows are found, and some in none. */
const words = ['the', 'error', 'order', 'please', 'unheard', 'user', 'question']

function wordOf(turn: number): string {
  return words[turn % words.length]!
}

function isPlainName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name)
}

function isShort(column: ColumnMetadata): boolean {
  return 'encoding' in column && column.encoding === 'dictionary' && column.distinctCount <= 1000
}
