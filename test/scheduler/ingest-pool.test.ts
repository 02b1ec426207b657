import { afterEach, expect, it } from 'vitest'
import { IngestPool } from '../../src/scheduler/insert/ingest-pool.ts'
import { sampleBody } from '../../src/scheduler/insert/sample-rows.ts'
import { SharedMemory } from '../../src/storage/shared-memory.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

let pool: IngestPool | undefined

afterEach(async () => {
  await pool?.close()
  pool = undefined
})

const options = { form: 'events', object: { type: 'project_logs', id: 'P' }, nowMs: 0 } as const

it('bodies that are prepared together fail alone, and keep their own rows', async () => {
  const { directory } = new TemporaryRecords()
  pool = new IngestPool(directory, 1)
  const bodies = Array.from({ length: 40 }, (_, i) =>
    i === 17
      ? '{"events": [{"id": 3}]}'
      : JSON.stringify({ events: [{ id: `${i}` }, { id: `and ${i}` }] }),
  )
  const requests = bodies.map((body) => ({ body: Buffer.from(body), options }))
  const { rows, errors } = await pool.prepare(requests)
  errors.forEach((error, i) => {
    if (i === 17) expect(error).toMatchObject({ code: 'REQUEST_INVALID', path: 'events[0].id' })
    else expect(error).toBeUndefined()
  })
  const numbers = bodies.map((_, i) => i).filter((i) => i !== 17)
  expect(rows.ids).toEqual(numbers.flatMap((i) => [`${i}`, `and ${i}`]))
  expect([...rows.requestEnds]).toEqual(numbers.map((_, place) => place * 2 + 2))
})

it('what a body had before its fault is nowhere among the others', async () => {
  const { directory } = new TemporaryRecords()
  pool = new IngestPool(directory, 1)
  const texts = [
    '{"events": [{"id": "a", "extra": 1}]}',
    '{"events": [{"id": "b", "secret": {"name": 1}}, {"id": 3}]}',
    '{"events": [{"id": "c"}]}',
  ]
  const requests = texts.map((text) => ({ body: Buffer.from(text), options }))
  const { rows, errors } = await pool.prepare(requests)
  expect(errors.map((error) => error?.code)).toEqual([undefined, 'REQUEST_INVALID', undefined])
  expect(rows.ids).toEqual(['a', 'c'])
  expect(rows.fieldPaths).toEqual([[['extra']]])
  expect(Buffer.from(rows.bytes).includes('secret')).toBe(false)
})

it('puts the rows of a body in shared memory behind it, as far as there is room', async () => {
  const { directory } = new TemporaryRecords()
  pool = new IngestPool(directory, 1)
  const events = Array.from({ length: 300 }, (_, i) => {
    return {
      id: `${i}`,
      span_id: 's',
      root_span_id: 'r',
      created: '2026-01-01T00:00:00Z',
      input: `a text ${i} `.repeat(80),
    }
  })
  const body = Buffer.from(JSON.stringify({ events }))
  const alone = await pool.prepare([{ body: Buffer.from(body), options }])
  // Rows take more than the body, blocks less.
  for (const roomPerByte of [0, 1, 2]) {
    const memory = new SharedArrayBuffer(body.length * (1 + roomPerByte))
    const shared = Buffer.from(memory, 0, body.length)
    shared.set(body)
    const { rows, errors } = await pool.prepare([{ body: shared, options }])
    expect(errors).toEqual([undefined])
    expect(rows.ids).toEqual(alone.rows.ids)
    expect(Buffer.compare(rows.bytes, alone.rows.bytes)).toBe(0)
    expect(Buffer.compare(rows.blockBytes, alone.rows.blockBytes)).toBe(0)
    expect(shared.equals(body)).toBe(true)
    const lengths = [rows.bytes, rows.blockBytes].map(({ buffer }) => buffer.byteLength)
    expect(lengths.filter((length) => length === memory.byteLength).length).toBe(roomPerByte)
  }
})

it('gets to know its work by rows that are as good as any, and leaves nothing of them', async () => {
  const { directory, reader } = new TemporaryRecords()
  pool = new IngestPool(directory, 2)
  await pool.warmUp()
  const { rows, memtables, errors } = await pool.prepare([{ body: sampleBody(), options }])
  expect(errors).toEqual([undefined])
  expect(memtables).toMatchObject([{ rowCount: rows.ids.length }])
  expect(reader.lastTransaction()).toBe(0)
})

it('takes memory for a memtable, which is taken again once it is given back', async () => {
  const { directory } = new TemporaryRecords()
  const memtableMemory = new SharedMemory(2 ** 22)
  pool = new IngestPool(directory, 1, { memtableMemory })
  const bodyOf = (count: number) => {
    const event = { input: 'a text '.repeat(100) }
    return Buffer.from(JSON.stringify({ events: Array.from({ length: count }, () => event) }))
  }
  const memtablesOf = async (...bodies: Buffer[]) => {
    const { memtables } = await pool!.prepare(bodies.map((body) => ({ body, options })))
    return memtables
  }
  const [first, ...none] = await memtablesOf(bodyOf(500))
  expect(none).toEqual([])
  const [second] = await memtablesOf(bodyOf(500))
  expect(second!.memory).not.toBe(first!.memory)
  pool.drop([first!])
  // Rows that no part is made of, and a body that is wrong, leave it where it is.
  expect(await memtablesOf(bodyOf(500).subarray(1))).toEqual([])
  expect((await memtablesOf(bodyOf(500)))[0]!.memory).toBe(first!.memory)
})
