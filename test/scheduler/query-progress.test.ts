/** The progress of a query counts each row once, however many tasks have it among their inputs. */
import { expect, it } from 'vitest'
import { openLogs } from '../support/temporary-logs.ts'

const [segments, rows] = [30, 2000]
const rowCount = segments * rows

async function load() {
  const logs = await openLogs(rows, 2)
  for (let segment = 0; segment < segments; segment++) {
    await logs.insert(
      Array.from({ length: rows }, (_, i) => ({
        id: `${segment} ${i}`,
        output: i === 7 && segment % 10 === 0 ? 'a rarity' : 'usual words',
        metadata: { user: `user ${i % 500}` },
      })),
    )
    await logs.engine.flush()
  }
  return logs
}

it('of a query whose tasks give way to those of others', { timeout: 60_000 }, async () => {
  const { progressOf } = await load()
  const queries = Array.from({ length: 16 }, (_, n) =>
    progressOf(`dimensions: metadata.user as user | measures: count(1) as n
      | filter: id != 'none ${n}' | sort: n desc, user | limit: 1`),
  )
  for (const progress of await Promise.all(queries)) {
    expect(progress).toMatchObject({ rowsToRead: rowCount, rowsRead: rowCount })
  }
})

it('of one that an index tells which rows to read', { timeout: 60_000 }, async () => {
  const { progressOf } = await load()
  const progress = await progressOf(`measures: count(1) as n | filter: output match 'rarity'`)
  expect(progress).toMatchObject({ rowsToRead: rowCount, rowsRead: rowCount })
})
