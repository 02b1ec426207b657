/**
 * Every loop over rows gives what one statement per row gives, in a scan's batch and outside of one,
 * and whatever the number of rows is that a loop takes at once.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import * as aggregate from '../../src/kernel/aggregate.ts'
import {
  beginBatch,
  beginStates,
  endBatches,
  forgetCopy,
  maximumRows,
  newBytes,
  newCodes,
  newNumbers,
  newState,
  newTable,
} from '../../src/kernel/arena.ts'
import {
  calculate,
  chooseNumbers,
  negateNumbers,
  numbersOfTruths,
  roundNumbers,
} from '../../src/kernel/arithmetic.ts'
import { expandBits } from '../../src/kernel/bitmap.ts'
import { chooseCode } from '../../src/kernel/choose.ts'
import {
  absentNumbers,
  compareNumbers,
  compareWithConstant,
  type NumberComparison,
  rangeOf,
} from '../../src/kernel/compare.ts'
import {
  combineCodes,
  mapCodes,
  mapCodesWithin,
  pickCodes,
  pickNumbers,
} from '../../src/kernel/gather.ts'
import { numberCodes, recallCodes, slotOfNumber } from '../../src/kernel/groups.ts'
import { andInto, notOf, orInto } from '../../src/kernel/logic.ts'
import * as mask from '../../src/kernel/mask.ts'
import * as narrow from '../../src/kernel/narrow-mask.ts'
import * as select from '../../src/kernel/select.ts'
import { spanOf, truncateTimes } from '../../src/kernel/time.ts'

const comparisons: readonly NumberComparison[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']

function holds(operator: NumberComparison, x: number, y: number): boolean {
  switch (operator) {
    case 'eq':
      return x === y
    case 'ne':
      return x !== y
    case 'lt':
      return x < y
    case 'le':
      return x <= y
    case 'gt':
      return x > y
    case 'ge':
      return x >= y
  }
}

const special = [
  Number.NaN,
  0,
  -0,
  1,
  -1,
  0.1,
  1e300,
  -1e300,
  Number.MIN_VALUE,
  -Number.MIN_VALUE,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  2 ** 53,
]
const number = fc.oneof(
  fc.constantFrom(...special),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.integer({ min: -3, max: 3 }),
)
const known = number.filter((value) => !Number.isNaN(value))

/** Around the sizes that loops work in, and more than they take at once. */
const rowCounts = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.constantFrom(maximumRows - 1, maximumRows, maximumRows + 5, 2 * maximumRows + 17),
)

/** Repeats a few values, because thousands of arbitrary ones take long to make. */
function column<T>(values: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, row) => values[(row * 7 + (row >> 5)) % values.length]!)
}

const some = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: 1, maxLength: 30 })

describe.each([
  ['in a batch of a scan', true],
  ['outside of one', false],
])('%s', (_, isInBatch) => {
  const begin = () => {
    if (!isInBatch) return
    beginStates()
    beginBatch()
  }
  afterEach(endBatches)

  const check = (
    property: (numbers: number[], others: number[], truths: number[], y: number) => void,
    counts: fc.Arbitrary<number> = rowCounts,
  ) =>
    fc.assert(
      fc.property(
        some(number),
        some(number),
        some(fc.constantFrom(0, 1, 2)),
        known,
        counts,
        (a, b, t, y, count) => {
          begin()
          property(column(a, count), column(b, count), column(t, count), y)
        },
      ),
      { numRuns: 60 },
    )
  const ofBatches = fc.oneof(
    fc.integer({ min: 0, max: 40 }),
    fc.constantFrom(maximumRows - 1, maximumRows),
  )

  test.each(comparisons)('compares numbers by %s', (operator) => {
    check((a, b, _, y) => {
      const [left, right] = [Float64Array.from(a), Float64Array.from(b)]
      const [out, ofConstant] = [newBytes(a.length), newBytes(a.length)]
      compareNumbers(operator, left, right, a.length, out)
      compareWithConstant(operator, left, y, a.length, ofConstant)
      const truth = (x: number, z: number) =>
        Number.isNaN(x) || Number.isNaN(z) ? 2 : Number(holds(operator, x, z))
      expect([...out]).toEqual(a.map((x, i) => truth(x, b[i]!)))
      expect([...ofConstant]).toEqual(a.map((x) => truth(x, y)))
    })
  })

  const ranges = comparisons.filter((operator) => operator !== 'ne')

  test.each(ranges)('selects numbers by %s', (operator) => {
    check((a, _, __, y) => {
      const values = Float64Array.from(a)
      const wanted = a.flatMap((x, row) => (holds(operator, x, y) && !Number.isNaN(x) ? [row] : []))
      const every = Int32Array.from(a.keys())
      const [out, within] = [newCodes(a.length), newCodes(a.length)]
      const range = rangeOf(operator, y)
      const count = select.selectBetween(values, range, a.length, out)
      const countWithin = select.selectBetweenWithin(values, range, every, within)
      expect([...out.subarray(0, count)]).toEqual(wanted)
      expect([...within.subarray(0, countWithin)]).toEqual(wanted)
    }, ofBatches)
  })

  test('selects what is true', () => {
    check((a, _, t) => {
      const every = Int32Array.from(a.keys())
      const [out, within] = [newCodes(a.length), newCodes(a.length)]
      const truths = Uint8Array.from(t)
      const count = select.selectTrue(truths, a.length, out)
      const countWithin = select.selectTrueWithin(truths, every, within)
      expect([...out.subarray(0, count)]).toEqual([...every].filter((row) => t[row] === 1))
      expect([...within.subarray(0, countWithin)]).toEqual([...out.subarray(0, count)])
    }, ofBatches)
  })

  test('makes masks of whole numbers and codes as they are stored', () => {
    const wide = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
    const numbers = fc.array(fc.oneof(wide, fc.integer({ min: -130, max: 130 })), {
      minLength: 1,
      maxLength: 200,
    })
    const bound = fc.oneof(
      fc.integer({ min: -40_000, max: 40_000 }).map((n) => n / 100),
      fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NaN),
    )
    const scale = fc.record({
      base: fc.constantFrom(0, 7, -100_000),
      divisor: fc.constantFrom(1, 10, 100),
    })
    const masked = (made: Uint8Array, count: number) => Array.from(made.subarray(0, count), Boolean)
    fc.assert(
      fc.property(numbers, scale, bound, bound, (values, { base, divisor }, low, high) => {
        for (const integers of [
          Int8Array.from(values),
          Int16Array.from(values),
          Int32Array.from(values),
        ]) {
          const { length } = integers
          const none = -(2 ** (integers.BYTES_PER_ELEMENT * 8 - 1))
          const out = new Uint8Array(length)
          narrow.maskStored(
            { integers, base, divisor },
            new narrow.IntegerRange({ low, high }),
            out,
          )
          const numberOf = (integer: number) => (integer + base) / divisor
          const isWithin = Array.from(integers, (integer) => {
            return integer !== none && numberOf(integer) >= low && numberOf(integer) <= high
          })
          expect(masked(out, length)).toEqual(isWithin)
          if (Number.isNaN(low)) continue
          narrow.maskStoredOther(
            { integers, base, divisor },
            new narrow.IntegerRange({ low, high: low }),
            out,
          )
          const isOther = Array.from(integers, (integer) => {
            return integer !== none && numberOf(integer) !== low
          })
          expect(masked(out, length)).toEqual(isOther)
        }
      }),
    )
    const entries = fc.integer({ min: 1, max: 300 })
    fc.assert(
      fc.property(entries, fc.array(fc.nat(), { minLength: 1, maxLength: 200 }), (size, seeds) => {
        const table = Uint8Array.from(
          { length: size + 1 },
          (_, i) => (seeds[i % seeds.length]! * 7 + i) % 3,
        )
        const codes = seeds.map((seed) => (seed % (size + 1)) - 1)
        const isTrue = codes.map((code) => table[code < 0 ? size : code] === 1)
        const forms = [...(size <= 128 ? [Int8Array.from(codes)] : []), Int16Array.from(codes)]
        for (const stored of forms) {
          const out = new Uint8Array(codes.length)
          narrow.maskByStored(table, stored, out)
          expect(masked(out, codes.length)).toEqual(isTrue)
          narrow.maskIntegers(stored, codes[0]!, codes[0]!, out)
          expect(masked(out, codes.length)).toEqual(codes.map((code) => code === codes[0]))
        }
      }),
    )
  })

  test('makes masks of numbers and codes, and puts them together', () => {
    check((a, b, t, y) => {
      const [left, right] = [newBytes(a.length), newBytes(a.length)]
      const masked = (made: Uint8Array) => Array.from(made.subarray(0, a.length), Boolean)
      const { low, high } = rangeOf('ge', y)
      mask.maskBetween(Float64Array.from(a), { low, high }, a.length, left)
      expect(masked(left)).toEqual(a.map((x) => x >= y))
      mask.maskOther(Float64Array.from(b), y, b.length, right)
      expect(masked(right)).toEqual(b.map((x) => x < y || x > y))
      const isInRange = [...left]
      mask.keepBoth(left, right, a.length)
      expect([...left]).toEqual(isInRange.map((kept, row) => kept & right[row]!))
      mask.keepEither(left, Uint8Array.from(isInRange), a.length)
      expect([...left]).toEqual(isInRange)
      mask.keepOthers(left, a.length)
      expect([...left]).toEqual(isInRange.map((kept) => 1 - kept))
      expect(mask.countKept(left, a.length)).toBe(isInRange.filter((kept) => !kept).length)

      // Codes of a dictionary of two, and of null.
      const codes = Int32Array.from(t, (truth) => truth - 1)
      for (const code of [-1, 0, 1]) {
        mask.maskCode(code, codes, t.length, left)
        expect(masked(left)).toEqual(t.map((truth) => truth - 1 === code))
      }
      for (const size of [2, 5000]) {
        const table = new Uint8Array(size + 1).fill(2)
        table[1] = 1
        table[size] = 1
        mask.maskByCode(table, codes, t.length, right)
        expect([...right]).toEqual(t.map((truth) => Number(truth !== 1)))
      }
    }, ofBatches)
  })

  test.each(['add', 'sub', 'mul', 'div', 'mod'] as const)('calculates by %s', (operator) => {
    check((a, b) => {
      const out = newNumbers(a.length)
      calculate(operator, Float64Array.from(a), Float64Array.from(b), a.length, out)
      const result = (x: number, y: number) => {
        const value = { add: x + y, sub: x - y, mul: x * y, div: x / y, mod: x % y }[operator]
        // No one sees the sign of 0.
        return Number.isFinite(value) ? value + 0 : Number.NaN
      }
      expect(Array.from(out, (value) => value + 0)).toEqual(a.map((x, i) => result(x, b[i]!)))
    })
  })

  test('negates, tells nulls, and truncates times', () => {
    check((a) => {
      const values = Float64Array.from(a)
      const [negated, truncated] = [newNumbers(a.length), newNumbers(a.length)]
      const absent = newBytes(a.length)
      negateNumbers(values, a.length, negated)
      absentNumbers(values, a.length, absent)
      truncateTimes(values, 1000, 7, a.length, truncated)
      expect([...negated]).toEqual(a.map((x) => 0 - x))
      roundNumbers('floor', values, a.length, negated)
      expect([...negated]).toEqual(a.map(Math.floor))
      roundNumbers('ceil', values, a.length, negated)
      expect([...negated]).toEqual(a.map(Math.ceil))
      expect([...absent]).toEqual(a.map((x) => Number(Number.isNaN(x))))
      expect([...truncated]).toEqual(a.map((x) => Math.floor((x - 7) / 1000) * 1000 + 7))
    })
  })

  test('tells the span of times that are all there', () => {
    check((a) => {
      const span = spanOf(Float64Array.from(a), a.length)
      const isKnown = a.length > 0 && a.length <= maximumRows && !a.some(Number.isNaN)
      if (!isKnown) expect(span).toBeUndefined()
      // A loop, because spreading thousands of arguments is slow.
      else {
        const sorted = Float64Array.from(a).sort()
        expect(span!.low === sorted[0] && span!.high === sorted.at(-1)).toBe(true)
      }
    })
  })

  test('combines truths', () => {
    check((_, __, t) => {
      const other = t.toReversed()
      const [and, or, not] = [newBytes(t.length), newBytes(t.length), newBytes(t.length)]
      and.set(t)
      or.set(t)
      andInto(and, Uint8Array.from(other), t.length)
      orInto(or, Uint8Array.from(other), t.length)
      notOf(Uint8Array.from(t), t.length, not)
      const either = (value: number) => t.map((x, i) => x === value || other[i] === value)
      expect([...and]).toEqual(
        either(0).map((isFalse, i) => (isFalse ? 0 : Math.max(t[i]!, other[i]!))),
      )
      expect([...or]).toEqual(
        either(1).map((isTrue, i) => (isTrue ? 1 : Math.max(t[i]!, other[i]!))),
      )
      expect([...not]).toEqual(t.map((x) => [1, 0, 2][x]))
    })
  })

  test('chooses by conditions, and takes truths as numbers', () => {
    check((a, b, t) => {
      const [out, numbers, codes] = [newNumbers(a.length), newNumbers(a.length), newCodes(a.length)]
      const truths = Uint8Array.from(t)
      chooseNumbers(truths, Float64Array.from(a), Float64Array.from(b), a.length, out)
      numbersOfTruths(truths, a.length, numbers)
      codes.fill(-1)
      chooseCode(truths, 3, a.length, codes)
      expect([...out]).toEqual(t.map((x, i) => (x === 1 ? a[i] : b[i])))
      expect([...numbers]).toEqual(t.map((x) => (x === 2 ? Number.NaN : x)))
      expect([...codes]).toEqual(t.map((x) => (x === 1 ? 3 : -1)))
    })
  })

  test('expands bits from any row on', () => {
    fc.assert(
      fc.property(
        some(fc.integer({ min: 0, max: 255 })),
        fc.nat(20),
        rowCounts,
        (b, from, count) => {
          begin()
          const bits = Uint8Array.from(column(b, (from + count + 7) >> 3))
          const out = newBytes(count)
          expandBits(bits, from, count, out)
          const bit = (at: number) => (bits[at >> 3]! >> (at & 7)) & 1
          expect([...out]).toEqual(Array.from({ length: count }, (_, row) => bit(from + row)))
        },
      ),
    )
  })

  test('maps codes, null and what has no code yet included', () => {
    check((_, __, t) => {
      const codes = Int32Array.from(t, (truth) => truth - 1)
      for (const size of [2, 3000]) {
        for (const ofNull of [-1, 9]) {
          const table = new Int32Array(size + 1).fill(5)
          table[0] = 7
          table[size] = ofNull
          const out = newCodes(t.length)
          const least = mapCodes(table, codes, t.length, out)
          const wanted = t.map((truth) => [ofNull, 7, 5][truth]!)
          expect([...out]).toEqual(wanted)
          expect(least).toBe(wanted.includes(-1) ? -1 : 0)
        }
      }
    })
  })

  test('numbers pairs of codes, with and without null', () => {
    check((_, __, t) => {
      const right = Int32Array.from(t, (truth) => truth - 1)
      const left = Int32Array.from(t, (_, row) => (row * 7) % 5)
      const out = newCodes(t.length)
      combineCodes({ codes: left, base: 0 }, 3, { codes: right, base: -1 }, t.length, out)
      expect([...out]).toEqual(t.map((truth, row) => left[row]! * 3 + truth))
      // In place, as the next key is added.
      combineCodes({ codes: out, base: 0 }, 5, { codes: left, base: 0 }, t.length, out)
      const wanted = t.map((truth, row) => (left[row]! * 3 + truth) * 5 + left[row]!)
      expect([...out]).toEqual(wanted)
      combineCodes({ codes: right, base: -1 }, 9, { codes: right, base: -1 }, t.length, out)
      expect([...out]).toEqual(t.map((truth) => truth * 10))
    })
  })

  test.each([1, 3, 20, 1500])('counts %i codes, and those of none nowhere', (codeCount) => {
    check((a) => {
      const codes = Int32Array.from(a, (_, row) => (row % 3 === 0 ? (row * 5) % codeCount : -1))
      forgetCopy(codes)
      const counts = newState(codeCount, 0)
      aggregate.countCodes(codes, codes.length, counts)
      const wanted = new Array<number>(codeCount).fill(0)
      for (const code of codes) if (code >= 0) wanted[code]!++
      expect([...counts]).toEqual(wanted)
    })
  })

  test.each([1, 3, 20, 1500])('updates the states of %i groups', (groupCount) => {
    check((a, _, t) => {
      const values = Float64Array.from(a)
      const groups = Int32Array.from(values, (_, row) => (row * 5) % groupCount)
      forgetCopy(groups)
      const state = (fill = 0) => newState(groupCount, fill)
      const [rows, numbers, truths] = [state(), state(), state()]
      const [low, high] = [state(Number.POSITIVE_INFINITY), state(Number.NEGATIVE_INFINITY)]
      const n = values.length
      aggregate.countRows(groups, n, rows)
      aggregate.countNumbers(values, groups, n, numbers)
      aggregate.countTrue(Uint8Array.from(t), groups, n, truths)
      aggregate.minNumbers(values, groups, n, low)
      aggregate.maxNumbers(values, groups, n, high)
      for (const group of new Set([0, groupCount - 1])) {
        const inGroup = [...values.keys()].filter((row) => groups[row] === group)
        const present = inGroup.map((row) => values[row]!).filter((x) => !Number.isNaN(x))
        const sorted = Float64Array.from(present).sort()
        expect(rows[group]).toBe(inGroup.length)
        expect(numbers[group]).toBe(present.length)
        expect(truths[group]).toBe(inGroup.filter((row) => t[row] === 1).length)
        expect(low[group]! === (sorted[0] ?? Number.POSITIVE_INFINITY)).toBe(true)
        expect(high[group]! === (sorted.at(-1) ?? Number.NEGATIVE_INFINITY)).toBe(true)
      }
    })
  })

  test('picks rows, and what a table has for them', () => {
    check((a, _, t) => {
      const [numbers, codes] = [Float64Array.from(a), Int32Array.from(t, (truth) => truth - 1)]
      // Picked by the kernels and, of columns outside that few rows are picked of, here.
      for (const step of [1, 9]) {
        const rows = Int32Array.from(a.keys()).filter((row) => row % step === 0)
        const [outNumbers, outCodes] = [newNumbers(rows.length), newCodes(rows.length)]
        pickNumbers(numbers, rows, outNumbers)
        expect([...outNumbers]).toEqual(Array.from(rows, (row) => a[row]!))
        pickCodes(codes, rows, outCodes)
        expect([...outCodes]).toEqual(Array.from(rows, (row) => t[row]! - 1))
        const least = mapCodesWithin(Int32Array.of(7, -1, 5), codes, rows, outCodes)
        const wanted = Array.from(rows, (row) => [5, 7, -1][t[row]!]!)
        expect([...outCodes]).toEqual(wanted)
        expect(least).toBe(wanted.includes(-1) ? -1 : 0)
      }
    })
  })

  test('numbers codes in the order in which they are first seen', () => {
    check((a, _, t) => {
      const known = 40
      const numbers = { table: newTable(known + 1, -1), places: newTable(known + 1, 0) }
      const seen: number[] = []
      // Two batches, the second of which has few codes that the first has not.
      for (const codes of [a.map((_, row) => (row * 5) % 31), t.map((truth) => truth * 19 - 1)]) {
        const before = seen.length
        for (const code of codes) if (!seen.includes(code)) seen.push(code)
        const out = newCodes(codes.length)
        const next = numberCodes(numbers, Int32Array.from(codes), codes.length, out, before)
        expect(next).toBe(seen.length)
        expect([...out]).toEqual(codes.map((code) => seen.indexOf(code)))
        expect([...numbers.places.subarray(0, next)]).toEqual(seen)
      }
    })
  })

  test('recalls codes of numbers', () => {
    check((a) => {
      const values = Float64Array.from(a)
      const late = { numbers: newState(1024, Number.NaN), codes: newTable(1024, 0) }
      for (const [row, value] of a.entries()) {
        if (row % 3 === 0) continue
        late.numbers[slotOfNumber(value)] = value
        late.codes[slotOfNumber(value)] = Math.abs(Math.trunc(value)) % 1000
      }
      const isLate = (value: number) => late.numbers[slotOfNumber(value)] === value
      for (const ofNull of [-1, 7]) {
        const out = newCodes(a.length)
        const least = recallCodes(late, values, a.length, ofNull, out)
        const wanted = a.map((value) => {
          if (Number.isNaN(value)) return ofNull
          return isLate(value) ? late.codes[slotOfNumber(value)]! : -1
        })
        expect([...out]).toEqual(wanted)
        expect(least).toBe(wanted.includes(-1) ? -1 : 0)
      }
    })
  })

  test('puts numbers together by group', () => {
    check((a) => {
      const n = Math.min(a.length, maximumRows)
      const values = Float64Array.from(a)
      const groups = Int32Array.from(a, (_, row) => (row * 7) % 5)
      const [out, all] = [new Float64Array(n + 2), new Float64Array(n + 2)]
      const ends = new Int32Array(6)
      const kept = aggregate.gatherByGroup(values, groups, n, out, 2, ends)
      const present = [...values.keys()].filter((row) => row < n && !Number.isNaN(a[row]!))
      let start = 2
      for (const [group, end] of ends.entries()) {
        const ofGroup = present.filter((row) => groups[row] === group).map((row) => a[row]!)
        expect([...out.subarray(start, end + 2)]).toEqual(ofGroup)
        start = end + 2
      }
      expect(kept).toBe(present.length)
      expect(aggregate.keepNumbers(values, n, all, 2)).toBe(kept)
      expect([...all.subarray(2, kept + 2)]).toEqual(present.map((row) => a[row]!))
    })
  })

  test('aggregates all rows at once as it does one group', () => {
    check((a) => {
      const values = Float64Array.from(a)
      const present = [...values].filter((x) => !Number.isNaN(x))
      const sorted = Float64Array.from(present).sort()
      expect(
        aggregate.onlyGroup(
          Int32Array.from(a, () => 3),
          a.length,
        ),
      ).toBe(a.length > 0 && a.length <= maximumRows ? 3 : undefined)
      const ends = Int32Array.from(a, (_, row) => Number(row > 0 && row < a.length - 1))
      if (a.length > 2) expect(aggregate.onlyGroup(ends, a.length)).toBeUndefined()
      expect(aggregate.countAll(values, values.length)).toBe(present.length)
      const [low, high] = [sorted[0] ?? Number.NaN, sorted.at(-1) ?? Number.NaN]
      expect(aggregate.minAll(values, values.length) + 0).toEqual(low + 0)
      expect(aggregate.maxAll(values, values.length) + 0).toEqual(high + 0)
    })
  })
})

test.each([
  ['kernels.wasm', 'asconfig.json'],
  ['rows.wasm', 'rows/asconfig.json'],
  ['export.wasm', 'export/asconfig.json'],
])('%s is what its sources compile to', { timeout: 120_000 }, async (name, options) => {
  const { default: asc } = await import('assemblyscript/asc')
  const directory = mkdtempSync(join(tmpdir(), 'assay-kernels-'))
  try {
    const compiled = join(directory, name)
    const config = ['--config', `src/kernel/assembly/${options}`]
    const { error } = await asc.main([...config, '--outFile', compiled])
    expect(error).toBeNull()
    const committed = readFileSync(new URL(`../../src/kernel/${name}`, import.meta.url))
    expect(readFileSync(compiled).equals(committed), 'run npm run build:kernels').toBe(true)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
