import { Needle, present, searchTexts } from '../../src/executor/text/text-search.ts'
import {
  countAll,
  countNumbers,
  countRows,
  gatherByGroup,
  keepPresent,
  maxNumbers,
  minAll,
  minNumbers,
} from '../../src/kernel/aggregate.ts'
import {
  beginBatch,
  beginStates,
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
  roundNumbers,
} from '../../src/kernel/arithmetic.ts'
import { expandBits } from '../../src/kernel/bitmap.ts'
import { countStoredCodes } from '../../src/kernel/code-counts.ts'
import {
  absentNumbers,
  compareNumbers,
  compareWithConstant,
  rangeOf,
} from '../../src/kernel/compare.ts'
import { gatherBytes, gatherCodes, gatherNumbers, pickNumbers } from '../../src/kernel/gather.ts'
import { GroupSums } from '../../src/kernel/group-sums.ts'
import {
  chooseRows,
  nothingKept,
  numberCodes,
  recallCodes,
  slotOfNumber,
} from '../../src/kernel/groups.ts'
import { andInto, notOf, orInto } from '../../src/kernel/logic.ts'
import { countKept, keepBoth, maskBetween, maskByCode, maskCode } from '../../src/kernel/mask.ts'
import { countStored, IntegerRange } from '../../src/kernel/narrow-mask.ts'
import { sumStoredWhere } from '../../src/kernel/narrow-sums.ts'
import { selectBetween, selectTrue, selectTrueWithin } from '../../src/kernel/select.ts'
import { textEquals } from '../../src/kernel/text.ts'
import { truncateTimes } from '../../src/kernel/time.ts'
import type { KernelBatch } from './batch.ts'

export interface KernelBenchmark {
  readonly name: string
  readonly run: () => void
}

/**
 * Every kernel over one batch, called as the executor calls it: through a table of functions. What
 * would be columns lies outside the kernel arena, and is copied there once: the reading of main
 * memory that a scan adds is not in the figures.
 */
export function kernelBenchmarks(batch: KernelBatch): KernelBenchmark[] {
  const { rowCount: n, numbers, gappyNumbers, codes, groups, truths, otherTruths, texts } = batch
  beginStates()
  beginBatch()
  const [outNumbers, outBytes, outCodes] = [newNumbers(n), newBytes(n), newCodes(n)]
  const scratch = new Uint8Array(n)
  const [counts, lowest, highest] = Array.from({ length: 3 }, () => newState(8, 0)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  const numbered = { table: newTable(9, -1), places: newTable(9, 0) }
  const chosen = { rows: newCodes(n), groups: newCodes(n), count: 0 }
  const choice = { first: 0, flip: 0, kept: newTable(8, nothingKept) }
  const numberTable = Float64Array.from({ length: 8 }, (_, i) => i / 3)
  const byteTable = Uint8Array.from([0, 1, 0, 1, 0, 1, 0, 1, 2])
  const codeTable = Int32Array.from([7, 6, 5, 4, 3, 2, 1, 0])
  const range = rangeOf('gt', 500)
  const kept = { values: new Float64Array(n), groups: new Int32Array(n), mask: newBytes(n).fill(1) }
  const sums = new GroupSums()
  sums.resize(8)
  const ends = new Int32Array(8)
  const whole = numbers.map((number) => Math.floor(number / 100))
  const late = { numbers: newState(1024, Number.NaN), codes: newTable(1024, 0) }
  for (const number of whole) late.numbers[slotOfNumber(number)] = number
  const storedNumbers = { integers: Int16Array.from(numbers), base: 0, divisor: 100 }
  const storedRange = new IntegerRange({ low: 7, high: Number.POSITIVE_INFINITY })
  const storedCodes = { integers: Int8Array.from(codes), base: 0, divisor: 1 }
  const needle = Buffer.from('refund')

  const benchmarks: KernelBenchmark[] = []
  const add = (name: string, run: () => void) => benchmarks.push({ name, run })

  for (const operator of ['eq', 'ne', 'lt', 'ge'] as const) {
    add(`compare ${operator}, constant`, () =>
      compareWithConstant(operator, gappyNumbers, 500, n, outBytes),
    )
    add(`compare ${operator}`, () => compareNumbers(operator, numbers, gappyNumbers, n, outBytes))
  }
  for (const operator of ['add', 'mul', 'div', 'mod'] as const) {
    add(`calculate ${operator}`, () => calculate(operator, numbers, gappyNumbers, n, outNumbers))
  }
  add('choose numbers', () => chooseNumbers(truths, numbers, gappyNumbers, n, outNumbers))
  add('nulls of numbers', () => absentNumbers(gappyNumbers, n, outBytes))
  add('negate', () => negateNumbers(numbers, n, outNumbers))
  add('and', () => {
    scratch.set(truths)
    andInto(scratch, otherTruths, n)
  })
  add('or', () => {
    scratch.set(truths)
    orInto(scratch, otherTruths, n)
  })
  add('not', () => notOf(truths, n, outBytes))
  add('select true', () => void selectTrue(truths, n, outCodes))
  add('select true within half', () => void selectTrueWithin(truths, batch.selection, outCodes))
  add('expand bits', () => expandBits(batch.bits, 0, n, outBytes))
  add('select compared', () => void selectBetween(gappyNumbers, range, n, outCodes))
  add('mask compared', () => maskBetween(gappyNumbers, range, n, outBytes))
  add('mask by code', () => maskByCode(byteTable, codes, n, outBytes))
  add('mask of one code', () => maskCode(3, codes, n, outBytes))
  add('count of a range, as stored', () => void countStored(storedNumbers, storedRange))
  add('sum of a range, as stored', () => void sumStoredWhere(storedNumbers, storedRange, sums, 0))
  add('put masks together', () => keepBoth(outBytes, kept.mask, n))
  add('count of a mask', () => void countKept(kept.mask, n))
  add('gather numbers by code', () => gatherNumbers(numberTable, codes, n, outNumbers))
  add('gather truths by code', () => gatherBytes(byteTable, codes, n, outBytes))
  add('gather codes by code', () => gatherCodes(codeTable, codes, n, outCodes))
  add('pick half of the numbers', () => pickNumbers(numbers, batch.selection, outNumbers))
  add('group: count rows', () => countRows(groups, n, counts))
  add('group: count numbers', () => countNumbers(gappyNumbers, groups, n, counts))
  add('count codes of one byte', () => void countStoredCodes(storedCodes, counts))
  add('group: number codes', () => void numberCodes(numbered, codes, n, outCodes, 9))
  add('group: choose rows', () => {
    const offered = { rowCount: n, selection: undefined, groups, preferred: truths }
    void chooseRows(offered, choice, chosen, outCodes)
  })
  add('group: sum', () => sums.add(gappyNumbers, groups, n))
  add('group: min', () => minNumbers(gappyNumbers, groups, n, lowest))
  add('group: max', () => maxNumbers(gappyNumbers, groups, n, highest))
  add(
    'group: keep numbers for a percentile',
    () => void keepPresent(gappyNumbers, groups, n, kept, 0),
  )
  add(
    'group: put numbers together for a percentile',
    () => void gatherByGroup(gappyNumbers, groups, n, kept.values, 0, ends),
  )
  add('group: recall codes of numbers', () => void recallCodes(late, whole, n, -1, outCodes))
  add('floor', () => roundNumbers('floor', gappyNumbers, n, outNumbers))
  add('min of all', () => void minAll(gappyNumbers, n))
  add('count numbers of all', () => void countAll(gappyNumbers, n))
  add('sum of all', () => sums.addTo(0, gappyNumbers, n))
  add('truncate to days', () => truncateTimes(batch.times, 86_400_000, 0, n, outNumbers))
  add('text equals', () => textEquals(texts, 0, n, needle, outBytes))
  const word = new Needle('refund', false)
  const anyCase = new Needle('refund', true)
  add('text contains', () => searchTexts(texts, 0, n, word, () => present, outBytes))
  add('text contains, any case', () => searchTexts(texts, 0, n, anyCase, () => present, outBytes))
  return benchmarks
}
