/**
 * Connections that write to the same records at the same time. Each request has a transaction; the
 * requests in that order, one by one, must give the records that there are.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isSlow } from '../support/random-seed.ts'
import {
  apply,
  type Fields,
  fieldNames,
  type Json,
  type Model,
  type Row,
  row,
  sorted,
  toJson,
} from '../support/record-model.ts'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
})
afterAll(() => service.stop())

/** The requests of one connection, each sent when the one before has been answered. */
const connection = fc.array(fc.array(row, { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 4,
})

interface Written {
  readonly transaction: string
  readonly rows: readonly Row[]
}

async function writeAll(experiment: string, requests: readonly Row[][]): Promise<Written[]> {
  const written: Written[] = []
  for (const rows of requests) {
    const { json, text } = await service.request('/logs3', {
      body: { rows: rows.map((each) => ({ ...toJson(each), experiment_id: experiment })) },
    })
    if (typeof json.xact_id !== 'string') throw new Error(text)
    written.push({ transaction: json.xact_id, rows })
  }
  return written
}

async function read(experiment: string, shape: string): Promise<Record<string, Json>[]> {
  const { json } = await service.query(`select: * | from: experiment('${experiment}') ${shape}`)
  return json.data as unknown as Record<string, Json>[]
}

function modelOf(rows: readonly Record<string, Json>[]): Model {
  return new Map(
    rows.map((found) => {
      const given = fieldNames.filter((name) => Object.hasOwn(found, name) && found[name] !== null)
      return [String(found.id), new Map(given.map((name) => [name, found[name]!])) as Fields]
    }),
  )
}

let count = 0

test('requests of several connections are as if they had come one by one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(connection, { minLength: 2, maxLength: 6 }), async (connections) => {
      const experiment = await service.create('experiment', project, `e${count++}`)
      const each = await Promise.all(connections.map((requests) => writeAll(experiment, requests)))
      for (const written of each) {
        const transactions = written.map(({ transaction }) => transaction)
        expect(transactions).toEqual([...transactions].sort())
      }
      const all = each.flat().sort((a, b) => (a.transaction < b.transaction ? -1 : 1))
      expect(new Set(all.map(({ transaction }) => transaction)).size).toBe(all.length)
      const model: Model = new Map()
      let writes = 0
      for (const { rows } of all) {
        for (const each of rows) {
          if (each.action !== 'delete' || model.has(each.id)) writes++
          apply(model, each)
        }
      }
      expect(sorted(modelOf(await read(experiment, 'spans')))).toEqual(sorted(model))
      expect(await read(experiment, 'history')).toHaveLength(writes)
    }),
    { numRuns: isSlow ? 200 : 25 },
  )
})
