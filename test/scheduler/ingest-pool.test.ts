import { afterEach, expect, it } from 'vitest'
import { IngestPool } from '../../src/scheduler/ingest-pool.ts'
import { TemporaryRecords, temporaryDirectory } from '../support/temporary-records.ts'

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
  const settled = await Promise.allSettled(
    bodies.map((body) => pool!.prepare(Buffer.from(body), options)),
  )
  settled.forEach((outcome, i) => {
    if (i === 17) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'REQUEST_INVALID' } })
    } else {
      expect(outcome).toMatchObject({ value: { rows: { ids: [`${i}`, `and ${i}`] } } })
    }
  })
})

it('a body that comes alone is left to the calling thread, unless it is large', () => {
  pool = new IngestPool(temporaryDirectory(), 1)
  const body = new Uint8Array(20_000)
  expect(pool.takes(body, false)).toBe(false)
  expect(pool.takes(body, true)).toBe(true)
  expect(pool.takes(new Uint8Array(200_000), false)).toBe(true)
})
