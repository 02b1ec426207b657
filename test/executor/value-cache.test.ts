import { describe, expect, it } from 'vitest'
import { maximumCachedBytes, ValueCache } from '../../src/executor/thread/value-cache.ts'

const count = 8
const partBytes = maximumCachedBytes / count

function owners(): object[] {
  return Array.from({ length: count }, () => ({}))
}

describe('what a thread keeps of segments', () => {
  it('is found by what it is of and its name', () => {
    const kept = new ValueCache<string>()
    const [one, other] = owners()
    kept.set(one!, 'a', 1)
    kept.set(one!, 'b', 1, 'name')
    expect(kept.get(one!)).toBe('a')
    expect(kept.get(one!, 'name')).toBe('b')
    expect(kept.get(other!)).toBeUndefined()
    kept.set(one!, 'c', 1)
    expect(kept.get(one!)).toBe('c')
  })

  it('is bounded together with that of other kinds, and what was used longest ago goes first', () => {
    const [first, second] = [new ValueCache<number>(), new ValueCache<string>()]
    const all = owners()
    for (const [i, owner] of all.entries()) first.set(owner, i, partBytes)
    expect(all.map((owner) => first.get(owner))).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    first.get(all[0]!)
    for (const owner of all.slice(0, 3)) second.set(owner, 'kept', partBytes)
    expect(all.map((owner) => first.get(owner) ?? -1)).toEqual([0, -1, -1, -1, 4, 5, 6, 7])
    expect(all.filter((owner) => second.get(owner)).length).toBe(3)
    for (const owner of all) second.set(owner, 'more', partBytes, 'name')
    expect(all.some((owner) => first.get(owner) !== undefined)).toBe(false)
    expect(all.some((owner) => second.get(owner) !== undefined)).toBe(false)
    expect(all.every((owner) => second.get(owner, 'name') === 'more')).toBe(true)
  })

  it('takes the room of one value when it is set again', () => {
    const kept = new ValueCache<number>()
    const all = owners()
    for (let i = 0; i < 3 * count; i++) kept.set(all[0]!, i, partBytes)
    for (const owner of all.slice(1)) kept.set(owner, 1, partBytes)
    expect(kept.get(all[0]!)).toBe(3 * count - 1)
  })

  it('is not what takes more than all of it may', () => {
    const kept = new ValueCache<number>()
    const [one, other] = owners()
    kept.set(one!, 1, 1)
    kept.set(other!, 2, maximumCachedBytes + 1)
    expect([kept.get(one!), kept.get(other!)]).toEqual([1, undefined])
    kept.set(one!, 3, maximumCachedBytes + 1)
    expect(kept.get(one!)).toBeUndefined()
  })
})
