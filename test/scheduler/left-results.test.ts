/** What workers find is let go of once a query has ended, though threads share it and V8 counts it with none. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openLogs } from '../support/temporary-logs.ts'

const userCount = 80_000
const queries = 300
/** Of the keys and counts of all groups, at least, in numbers. */
const bytesPerQuery = userCount * (8 + 4)

it.runIf(process.platform === 'linux')(
  'results of many groups do not pile up from query to query',
  async () => {
    const { engine, insert, page } = await openLogs(1_000_000, 2)
    // In two segments each, so that no task knows all of a group.
    for (const part of ['a', 'b']) {
      const spans = Array.from({ length: userCount }, (_, n) => ({
        id: `${part} ${n}`,
        metadata: { user: `user ${n}` },
      }))
      for (let from = 0; from < userCount; from += 10_000) {
        await insert(spans.slice(from, from + 10_000))
      }
      await engine.flush()
    }
    // Another filter each time, so that no answer is kept.
    const ask = (n: number) =>
      page(`dimensions: metadata.user as user | measures: count(1) as n
        | filter: id != 'none ${n}' | sort: n desc, user | limit: 3`)
    for (let n = 0; n < 10; n++) await ask(n)
    const before = anonymousBytes()
    for (let n = 0; n < queries; n++) {
      const { rows } = await ask(10 + n)
      expect(rows).toHaveLength(3)
    }
    expect(anonymousBytes() - before).toBeLessThan((queries * bytesPerQuery) / 2)
  },
  60_000,
)

/** Resident memory that is of no file. */
function anonymousBytes(): number {
  const [, kibibytes] = /RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))!
  return Number(kibibytes) * 1024
}
