/** What is made of a list of values of one group, none of which is null. */
import { asNumber, finite } from '../../type/arithmetic.ts'
import { orderValues } from '../../type/compare.ts'
import { textOf } from '../../type/text.ts'
import type { Value } from '../../type/value.ts'
import { checkLimit, maximumCollectedCharacters } from '../thread/memory-limit.ts'

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
  const numbers = numbersIn(values)
  return numbers.length === 0 ? null : finite(sumOf(numbers))
}

export function mean(values: readonly Value[]): number | null {
  const numbers = numbersIn(values)
  return numbers.length === 0 ? null : finite(sumOf(numbers) / numbers.length)
}

function numbersIn(values: readonly Value[]): number[] {
  return values.map(asNumber).filter((number) => number !== null)
}

/** With what rounding takes from it, so that the order of the numbers does not show. */
function sumOf(numbers: readonly number[]): number {
  let [sum, error] = [0, 0]
  for (const number of numbers) {
    const after = sum + number
    const added = after - sum
    error += sum - (after - added) + (number - added)
    sum = after
  }
  return sum + error
}
