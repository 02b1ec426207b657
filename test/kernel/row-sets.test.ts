/** Sets of rows are the same as lists and as bits, whatever is done with them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  intersectionOf,
  isWithin,
  makeBriefly,
  makeToKeep,
  newRows,
  RowSetBuilder,
  unionOf,
  without,
} from '../../src/kernel/row-sets.ts'
import { addRow, noRows } from '../../src/vector/row-bits.ts'
import { FewRows, isInSet, type RowSet } from '../../src/vector/row-set.ts'
import { randomSeed } from '../support/random-seed.ts'

const rowCount = 300
const numbers = Array.from({ length: rowCount }, (_, row) => row)

/** Rows of a set, and whether it is a list. */
const rows = fc.tuple(
  fc.uniqueArray(fc.nat({ max: rowCount - 1 }), { maxLength: 40 }),
  fc.boolean(),
)

function setOf([members, isList]: readonly [readonly number[], boolean]): RowSet {
  if (isList) return new FewRows(Int32Array.from(members).sort())
  const bits = noRows(rowCount)
  for (const row of members) addRow(bits, row)
  return bits
}

function rowsOf(set: RowSet): number[] {
  return numbers.filter((row) => isInSet(set, row))
}

describe(`sets of rows, seed ${randomSeed}`, () => {
  it('are put together and compared as their rows are', () => {
    const several = fc.array(rows, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(several, rows, (all, other) => {
        const sets = all.map(setOf)
        const [first] = sets as [RowSet]
        const second = setOf(other)
        const members = all.map(([list]) => new Set(list))
        const [ofFirst] = members as [Set<number>]
        const ofSecond = new Set(other[0])
        const some = numbers.filter((row) => members.some((each) => each.has(row)))
        expect(rowsOf(unionOf(sets))).toEqual(some)
        const every = numbers.filter((row) => members.every((each) => each.has(row)))
        expect(rowsOf(intersectionOf(sets))).toEqual(every)
        const left = numbers.filter((row) => ofFirst.has(row) && !ofSecond.has(row))
        expect(rowsOf(without(first, second))).toEqual(left)
        expect(isWithin(first, second)).toBe(left.length === 0)
        // What they were made of is as it was.
        expect(sets.map(rowsOf)).toEqual(all.map(([list]) => [...list].sort((a, b) => a - b)))
      }),
      { seed: randomSeed },
    )
  })

  it('give the rows between two, where they are lists', () => {
    const place = fc.nat({ max: rowCount })
    fc.assert(
      fc.property(rows, place, place, ([members], a, b) => {
        const set = setOf([members, true]) as FewRows
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const within = members.filter((row) => row >= from && row < to).sort((x, y) => x - y)
        expect([...set.between(from, to)]).toEqual(within)
      }),
      { seed: randomSeed },
    )
  })

  it('are made of lists, and are bits once they are many', () => {
    const lists = fc.array(fc.uniqueArray(fc.nat({ max: rowCount - 1 }), { maxLength: 10 }), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(lists, fc.boolean(), (added, hasBits) => {
        const builder = new RowSetBuilder(rowCount)
        if (hasBits) addRow(builder.bits, 17)
        for (const list of added) builder.addList(Int32Array.from(list).sort())
        const set = builder.finish()
        const all = new Set([...added.flat(), ...(hasBits ? [17] : [])])
        expect(set ? rowsOf(set) : []).toEqual([...all].sort((a, b) => a - b))
        if (hasBits || added.flat().length > 8) expect(set).not.toBeInstanceOf(FewRows)
      }),
      { seed: randomSeed },
    )
  })

  it('are made in the same memory again, but for those that are kept', () => {
    const others = setOf([[1, 2], false])
    const make = (row: number) => () => {
      const kept = makeToKeep(() => unionOf([setOf([[row], false]), others]))
      return { kept, brief: unionOf([kept, others]) as Int32Array }
    }
    const first = makeBriefly(make(7))
    const second = makeBriefly(make(9))
    expect(second.brief.byteOffset).toBe(first.brief.byteOffset)
    expect(second.brief.buffer).toBe(first.brief.buffer)
    expect(rowsOf(second.brief)).toEqual([1, 2, 9])
    expect(rowsOf(first.kept)).toEqual([1, 2, 7])
    // What is made at other times has memory of its own.
    expect((unionOf([second.brief, others]) as Int32Array).buffer).not.toBe(second.brief.buffer)
  })

  it('are made all the same when that memory is full', () => {
    const many = 300_000
    const sets = makeBriefly(() => Array.from({ length: 100 }, () => newRows(many)))
    for (const [i, set] of sets.entries()) addRow(set, i)
    expect(sets.map((set) => numbers.filter((row) => isInSet(set, row)))).toEqual(
      sets.map((_, i) => [i]),
    )
  })
})
