/** Times of years that a double in milliseconds is too short for, in every format of an answer. */
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { microsecondsOf, parseTimestamp } from '../../src/type/time.ts'
import { RunningService } from '../support/running-service.ts'

const times = [
  '0001-01-01T00:00:00.000001Z',
  '1969-12-31T23:59:59.999999Z',
  '2024-05-17T10:42:31.123456Z',
  '9999-12-31T23:59:59.999998Z',
  '9999-12-31T23:59:59.999999Z',
]

let service: RunningService
let query: string

beforeAll(async () => {
  service = await RunningService.start()
  const experiment = await service.create('experiment', await service.project())
  const events = times.map((created) => ({ created, input: created }))
  await service.insert('experiment', experiment, events)
  query = `select: created, to_timestamp(input) as t | from: experiment('${experiment}') | sort: created`
})
afterAll(() => service.stop())

test.each(['json', 'jsonl', 'csv'])('%s has their text', async (fmt) => {
  const { text } = await service.query(query, { fmt })
  const shown = text.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g)
  expect(shown).toEqual(times.flatMap((time) => [time, time]))
})

test('Arrow has their microseconds', async () => {
  const response = await service.fetch('/btql', { body: { query, fmt: 'arrow' } as never })
  const table = tableFromIPC(new Uint8Array(await response.arrayBuffer()))
  const expected = times.map((time) => microsecondsOf(parseTimestamp(time)!))
  for (const name of ['created', 't']) {
    const column = table.getChild(name)!
    expect(column.data.flatMap(({ values }) => [...(values as BigInt64Array)])).toEqual(expected)
  }
})

test('pages by a cursor go on after a microsecond', async () => {
  const shown: unknown[] = []
  let cursor = ''
  do {
    const page = cursor === '' ? '' : ` | cursor: '${cursor}'`
    const { json } = await service.query(`${query} | limit: 2${page}`)
    shown.push(...(json.data as unknown as { created: string }[]).map(({ created }) => created))
    cursor = typeof json.cursor === 'string' ? json.cursor : ''
  } while (cursor !== '' && shown.length < 20)
  expect(shown).toEqual(times)
})
