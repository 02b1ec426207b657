/** The nodes make the lower case of letters as it is made here, of all that are said to be so. */
import { describe, expect, test } from 'vitest'
import { isCaseless, plainCase, plainCaseTexts } from '../../src/clickhouse/read/letter-case.ts'
import { textLiteral } from '../../src/clickhouse/read/sql-text.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'

const clusterNumber = 99
/** Characters of a statement. */
const atOnce = 10_000

function charactersOf(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i))
}

const all = charactersOf(0, 0xd7ff).concat(charactersOf(0xe000, 0x1ffff))
const plain = plainCase.flatMap(([first, last]) => charactersOf(first, last))
const isPlain = new Set(plain)
const others = all.filter((character) => !isPlain.has(character))

test('Characters without case stand for themselves alone in lower case', () => {
  const changed = all.filter((character) => character.toLowerCase() !== character)
  const made = changed.flatMap((character) => [...character.toLowerCase()])
  expect([...changed, ...made].filter(isCaseless)).toEqual([])
  expect(
    ['龘', 'ま', '한', 'ش', 'ह', 'ท', '👍', '5', '-', ' '].filter((one) => !isCaseless(one)),
  ).toEqual([])
})

describe.runIf(isClusterAsked)('the case of letters', () => {
  const cluster = useCluster(clusterNumber, 1)

  async function ask<Result>(of: string): Promise<Result> {
    const [row] = await cluster().ask<{ result: Result }>(1, `SELECT ${of} AS result`)
    return row!.result
  }

  test('is the same on the nodes', async () => {
    for (let at = 0; at < plain.length; at += atOnce) {
      const text = plain.slice(at, at + atOnce).join('')
      expect(await ask(`lowerUTF8(${textLiteral(text)})`)).toBe(text.toLowerCase())
      expect(await ask(`match(${textLiteral(text)}, ${plainCaseTexts})`)).toBe(1)
    }
  })

  test('is not said to be the same of other characters', async () => {
    for (let at = 0; at < others.length; at += atOnce) {
      const list = others
        .slice(at, at + atOnce)
        .map(textLiteral)
        .join(', ')
      expect(await ask(`countEqual([match(arrayJoin([${list}]), ${plainCaseTexts})], 1)`)).toBe('0')
    }
  })

  test('of ASCII comes of two other letters', () => {
    const beyond = charactersOf(0x80, 0xd7ff).concat(charactersOf(0xe000, 0x1ffff))
    const found = beyond.filter((character) => /\p{ASCII}/u.test(character.toLowerCase()))
    expect(found).toEqual(['\u0130', '\u212a'])
  })
})
