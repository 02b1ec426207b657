/** What is made of a list of values of one group, none of which is null. */
import { GroupSums } from '../../kernel/group-sums.ts'
import { asNumber } from '../../type/arithmetic.ts'
import { orderValues } from '../../type/compare.ts'
import { textOf } from '../../type/text.ts'
import type { Value } from '../../type/value.ts'
import { checkLimit, maximumCollectedCharacters } from '../thread/memory-limit.ts'
import { type OfSum, resultOf } from './sum.ts'

export function sorted(values: readonly Value[]): readonly Value[] | null {
  return values.length === 0 ? null : values.toSorted(orderValues)
}

export function joined(separator: string): (values: readonly Value[] | null) => string | null {
  return (values) => {
    if (values === null || values.length === 0) return null
    let length = 0
    const texts = values.map((value) => {
      const text = textOf(value)
      length += text.length + separator.length
      checkCollected(length)
      return text
    })
    return texts.join(separator)
  }
}

export function checkCollected(characters: number): void {
  checkLimit(
    characters,
    maximumCollectedCharacters,
    'characters in one value of the answer',
    'filter the rows, or group by more',
  )
}

/** The sum of the numbers; booleans count as 0 and 1. */
export function total(values: readonly Value[]): number | null {
  return ofSum('sum', values)
}

export function mean(values: readonly Value[]): number | null {
  return ofSum('mean', values)
}

function ofSum(of: OfSum, values: readonly Value[]): number | null {
  const sums = new GroupSums()
  sums.resize(1)
  for (const value of values) {
    const number = typeof value === 'bigint' ? value : asNumber(value)
    if (number !== null) sums.addOne(0, number)
  }
  sums.settle()
  return sums.countOf(0) === 0 ? null : resultOf(of, sums, 0)
}
