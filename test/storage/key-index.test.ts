import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { closeSegments, openSegments } from '../../src/storage/environment.ts'
import { openLogs } from '../support/temporary-logs.ts'

/** Looks random, as ids do. */
function idOf(n: number): string {
  return createHash('sha1').update(`${n}`).digest('hex').slice(0, 16)
}

/** Four spans of each trace, the fourth much later; one user in 16 rows. */
function spans(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `span ${n}`,
    span_id: idOf(n),
    root_span_id: `trace ${idOf(n % 4 === 3 ? n - 30_000 : Math.floor(n / 4))}`,
    metadata: { user: idOf(n % 20_000), few: `value ${n % 10}` },
  }))
}

const rowCount = 40_000
const granules = (count: number) => count * 8192

async function openSpans() {
  const logs = await openLogs(100_000)
  await logs.insert(spans(rowCount))
  await logs.engine.flush()
  return logs
}

describe('a condition on a text of many', () => {
  test('reads the granules that have it', async () => {
    const { ask } = await openSpans()
    const count = (condition: string) => ask(`measures: count(1) as n | filter: ${condition}`)

    const span = await count(`span_id = '${idOf(20_000)}'`)
    expect(span).toMatchObject({ n: 1 })
    expect(span.read).toBeLessThanOrEqual(granules(1))

    const user = await count(`metadata.user = '${idOf(77)}'`)
    expect(user).toMatchObject({ n: 2 })
    expect(user.read).toBeLessThanOrEqual(granules(2))

    const several = [1, 2, 39_999].map((n) => `'${idOf(n)}'`)
    expect(await count(`span_id in [${several.join()}]`)).toMatchObject({ n: 3 })
    expect(await count("span_id = 'of no span'")).toEqual({ n: 0, read: 0 })
  })

  test('finds every value that there is', async () => {
    const { ask } = await openSpans()
    for (let n = 0; n < rowCount; n += 1999) {
      const id = await ask(`measures: count(1) as n | filter: span_id = '${idOf(n)}'`)
      expect(id, `span ${n}`).toMatchObject({ n: 1 })
    }
  })

  test('finds values of rows that were updated, and in segments that were merged', async () => {
    const { engine, insert, ask } = await openSpans()
    await insert([{ id: 'span 5', span_id: 'other', metadata: { user: 7 } }])
    const counts = async () => [
      await ask(`measures: count(1) as n | filter: span_id = '${idOf(5)}'`),
      await ask("measures: count(1) as n | filter: span_id = 'other'"),
      await ask('measures: count(1) as n | filter: metadata.user = 7'),
    ]
    const expected = [{ n: 0 }, { n: 1 }, { n: 1 }]
    expect(await counts()).toMatchObject(expected)
    await engine.flush()
    expect(await counts()).toMatchObject(expected)
    await engine.compact()
    expect(await counts()).toMatchObject(expected)
  })
})

test('an index goes with its segment', async () => {
  const { engine, directory, insert } = await openSpans()
  const segments = openSegments(directory, { readOnly: true })
  const indexed = () => {
    segments.root.resetReadTxn()
    const keys = [...segments.keys.getKeys({})]
    return [...new Set(keys.map((key) => key.readUInt32BE(10)))]
  }
  expect(indexed()).toEqual([1])
  await insert(spans(10))
  await engine.flush()
  await engine.compact()
  await engine.flush()
  expect(indexed()).toHaveLength(1)
  expect(indexed()).not.toEqual([1])
  await closeSegments(segments)
})
