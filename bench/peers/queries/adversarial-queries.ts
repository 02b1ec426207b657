/**
 * Queries over adversarial rows, each with what its answer is by a plain loop over the rows, and with
 * a query of the same kind over the usual rows.
 */
import { type AdversarialRow, needle } from '../generator/adversarial-writer.ts'

export interface AdversarialQuery {
  readonly name: string
  readonly btql: string
  readonly shape?: 'summary'
  readonly isOrdered?: boolean
  readonly useColumnstore?: boolean
  readonly clean: string
  readonly answer: (rows: readonly AdversarialRow[]) => readonly Readonly<Record<string, unknown>>[]
}

function count(rows: readonly AdversarialRow[], holds: (row: AdversarialRow) => boolean) {
  return [{ n: rows.filter(holds).length }]
}

function groups(rows: readonly AdversarialRow[], key: (row: AdversarialRow) => unknown) {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const text = JSON.stringify(key(row))
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts].map(([text, n]) => ({ key: JSON.parse(text) as unknown, n }))
}

const byText = (a: string, b: string) => (a < b ? -1 : 1)

/** `id` is that of some row; `cleanId` of one of the usual rows. */
export function adversarialQueries(id: string, cleanId: string): readonly AdversarialQuery[] {
  return [
    {
      name: 'count',
      btql: 'measures: count(1) as n',
      clean: 'measures: count(1) as n',
      answer: (rows) => [{ n: rows.length }],
    },
    {
      name: 'sum of what was updated twice',
      btql: 'measures: sum(metrics.v) as total',
      clean: 'measures: sum(metrics.tokens) as total',
      answer: (rows) => [{ total: rows.reduce((sum, { metrics }) => sum + metrics.v, 0) }],
    },
    {
      name: 'the numbers under a path of all types',
      btql: 'measures: count(1) as n, sum(metadata.p3) as total\nfilter: metadata.p3 > 2',
      clean: 'measures: count(1) as n, sum(metrics.tokens) as total\nfilter: metrics.tokens > 500',
      answer: (rows) => {
        const values = rows.map(({ metadata }) => metadata.p3)
        const numbers = values.filter((value) => typeof value === 'number' && value > 2) as number[]
        return [{ n: numbers.length, total: numbers.reduce((sum, value) => sum + value, 0) }]
      },
    },
    {
      name: 'the texts under a path of all types',
      btql: `measures: count(1) as n\nfilter: metadata.p4 = 'b'`,
      clean: `measures: count(1) as n\nfilter: metadata.environment = 'staging'`,
      answer: (rows) => count(rows, ({ metadata }) => metadata.p4 === 'b'),
    },
    {
      name: 'group by a path of all types',
      btql: 'dimensions: metadata.p5 as key\nmeasures: count(1) as n',
      clean: 'dimensions: metadata.release as key\nmeasures: count(1) as n',
      answer: (rows) => groups(rows, ({ metadata }) => metadata.p5),
    },
    {
      name: 'one of 5,000 paths',
      btql: 'measures: count(1) as n\nfilter: metadata.x_77 = 1',
      clean: 'measures: count(1) as n\nfilter: metadata.flag_7 = true',
      answer: (rows) => count(rows, ({ metadata }) => metadata.x_77 === 1),
    },
    {
      name: 'a field that is always null',
      btql: 'measures: count(1) as n\nfilter: metadata.nothing is not null',
      clean: 'measures: count(1) as n\nfilter: error is not null',
      answer: () => [{ n: 0 }],
    },
    {
      name: 'traces, one of which is giant',
      isOrdered: true,
      btql: 'dimensions: root_span_id as key\nmeasures: count(1) as n\nsort: n desc, key\nlimit: 5',
      clean:
        'dimensions: root_span_id as key\nmeasures: count(1) as n\nsort: n desc, key\nlimit: 5',
      answer: (rows) =>
        groups(rows, (row) => row.root_span_id)
          .sort((a, b) => b.n - a.n || byText(String(a.key), String(b.key)))
          .slice(0, 5),
    },
    {
      name: 'summary of traces, one of which is giant',
      shape: 'summary',
      isOrdered: true,
      btql: 'select: root_span_id as key, metrics.v as total\nsort: total desc, key\nlimit: 5',
      clean:
        'select: root_span_id as key, metrics.tokens as total\nsort: total desc, key\nlimit: 5',
      answer: (rows) => {
        const sums = new Map<string, number>()
        for (const { root_span_id: key, metrics } of rows) {
          sums.set(key, (sums.get(key) ?? 0) + metrics.v)
        }
        return [...sums]
          .map(([key, total]) => ({ key, total }))
          .sort((a, b) => b.total - a.total || byText(a.key, b.key))
          .slice(0, 5)
      },
    },
    {
      name: 'latest 20 by a time that is in no order',
      isOrdered: true,
      btql: 'select: id\nsort: created desc, id\nlimit: 20',
      clean: 'select: id\nsort: created desc, id\nlimit: 20',
      answer: (rows) =>
        [...rows]
          .sort((a, b) => byText(b.created, a.created) || byText(a.id, b.id))
          .slice(0, 20)
          .map((row) => ({ id: row.id })),
    },
    {
      name: 'look-up of a row that was updated twice',
      useColumnstore: false,
      btql: `select: id, metrics.v as v\nfilter: id = '${id}'`,
      clean: `select: id, metrics.tokens as v\nfilter: id = '${cleanId}'`,
      answer: (rows) =>
        rows.filter((row) => row.id === id).map(({ metrics }) => ({ id, v: metrics.v })),
    },
    {
      name: 'ILIKE, with a million characters in some rows',
      btql: `measures: count(1) as n\nfilter: output ILIKE '%${needle.toUpperCase()}%'`,
      clean: `measures: count(1) as n\nfilter: output ILIKE '%ZUGZWANG%'`,
      answer: (rows) => count(rows, (row) => row.output.includes(needle)),
    },
  ]
}
