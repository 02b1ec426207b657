/** Agreement of reviewers, held to worked examples. */
import { describe, expect, test } from 'vitest'
import { categoryAgreement, type Rating, sliderAgreement } from '../../src/ui/service/agreement.ts'

/** One line for each record, one letter for each reviewer; a blank has not answered. */
function ratings(lines: readonly string[]): Rating<string>[] {
  return lines.flatMap((line, i) =>
    [...line].flatMap((value, j) =>
      value === ' ' ? [] : [{ record: `r${i}`, reviewer: `p${j}`, value }],
    ),
  )
}

const repeated = (line: string, count: number) => Array.from({ length: count }, () => line)

describe('agreement about categories', () => {
  test('of two reviewers is Cohen’s kappa', () => {
    // 20 times both say yes, 15 times both no, 5 and 10 times they differ: 0.7 agree, 0.5 by chance.
    const table = [
      ...repeated('yy', 20),
      ...repeated('yn', 5),
      ...repeated('ny', 10),
      ...repeated('nn', 15),
    ]
    const found = categoryAgreement(ratings(table))!
    expect(found).toMatchObject({ records: 50, reviewers: 2 })
    expect(found.share).toBeCloseTo(0.7, 10)
    expect(found.kappa).toBeCloseTo(0.4, 10)
  })

  test('of more reviewers is Fleiss’ kappa', () => {
    // The usual example: ten subjects, fourteen raters, five categories; kappa is 0.210.
    const counts = [
      [0, 0, 0, 0, 14],
      [0, 2, 6, 4, 2],
      [0, 0, 3, 5, 6],
      [0, 3, 9, 2, 0],
      [2, 2, 8, 1, 1],
      [7, 7, 0, 0, 0],
      [3, 2, 6, 3, 0],
      [2, 5, 3, 2, 2],
      [6, 5, 2, 1, 0],
      [0, 2, 2, 3, 7],
    ]
    const table = counts.map((each) => each.map((count, i) => `${i}`.repeat(count)).join(''))
    const found = categoryAgreement(ratings(table))!
    expect(found.share).toBeCloseTo(0.378, 3)
    expect(found.kappa).toBeCloseTo(0.21, 3)
  })

  test('leaves out records that one reviewer alone has answered', () => {
    expect(categoryAgreement(ratings(['y ', ' n']))).toBeUndefined()
    expect(categoryAgreement(ratings(['yy', 'n ', 'nn']))).toMatchObject({ records: 2, kappa: 1 })
  })

  test('has no kappa where all answers are the same', () => {
    expect(categoryAgreement(ratings(['yy', 'yy']))).toMatchObject({ share: 1, kappa: undefined })
  })
})

test('agreement about sliders is the mean difference of pairs, each record counting alike', () => {
  const of = (record: string, ...values: readonly number[]) =>
    values.map((value, i) => ({ record, reviewer: `p${i}`, value }))
  const found = sliderAgreement([...of('a', 0.5, 0.9), ...of('b', 0, 0.3, 0.6), ...of('c', 1)])!
  expect(found).toMatchObject({ records: 2, reviewers: 3 })
  expect(found.meanDifference).toBeCloseTo(0.4, 10)
})
