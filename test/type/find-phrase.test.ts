/** What full-text search finds, and what is marked of it. */
import { describe, expect, it } from 'vitest'
import { findRanges } from '../../src/type/find-phrase.ts'
import { readSearchQuery } from '../../src/type/search-query.ts'
import { matchWords } from '../../src/type/text-match.ts'
import type { Value } from '../../src/type/value.ts'

describe('a query of full-text search', () => {
  const told = (query: string) =>
    readSearchQuery(query).map((phrase) => {
      const mark = { word: '', start: '*', part: '~' }
      return phrase.map(({ text, fits }) => `${text}${mark[fits]}`).join(' ')
    })

  it.each([
    ['refund policy', ['refund', 'policy']],
    ['Refund REFUND', ['refund']],
    ['"not sure"', ['not sure']],
    ['“not sure” refund', ['not sure', 'refund']],
    ['refund*', ['refund*']],
    ['"not sur*" * -* *a', ['not sur*', 'a']],
    ['value-added', ['value', 'added']],
    ['"value-added"', ['value added']],
    ['Größe', ['grosse']],
    ['東京タワー', ['東京タワー~']],
    ['Python入門 2024年', ['python 入門~', '2024 年~']],
    ['unbalanced "quote here', ['unbalanced', 'quote', 'here']],
    ['?!', []],
    ['""', []],
  ])('%s asks for %j', (query, phrases) => {
    expect(told(query)).toEqual(phrases)
  })
})

describe('match', () => {
  it.each<[Value, string, boolean]>([
    ['I am not quite sure', '"not sure"', false],
    ['I am not, sure', '"not sure"', true],
    ['not sure', '"Not  SURE!"', true],
    ['knot sure', '"not sure"', false],
    ['not surely', '"not sure"', false],
    ['not surely', '"not sur*"', true],
    ['not not sure', '"not sure"', true],
    ['Refunds are due', 'refund', false],
    ['Refunds are due', 'refund*', true],
    ['prefund', 'refund*', false],
    ['one café, two cafe\u0301s', 'cafe', true],
    ['cafe', 'café', true],
    ['naive Zoe', 'naïve Zoë', true],
    ['Straße', 'strasse', true],
    ['Привет, Ёлка', 'ПРИВЕТ елка', true],
    ['東京タワーに行く', 'タワー', true],
    ['東京タワーに行く', '京都', false],
    ['東京 タワー', '東京タワー', false],
    ['東京タワー', '"東京 タワー"', true],
    ['私はPythonを使う', 'python', true],
    ['私はPythonを使う', 'pyth', false],
    ['ｶﾀｶﾅ', 'カタカナ', true],
    ['か\u3099っこう', 'がっこう', true],
    ['사용자에게 보냄', '사용자', true],
    ['ผู้ใช้ใหม่', 'ใหม่', true],
    ['हिन्दी में', 'हिन्दी', true],
    ['हिन्दी में', 'हिन्द', false],
    [{ role: 'user', content: 'line one\nline two' }, '"line two"', true],
    [{ role: 'user', content: 'line one\nline two' }, 'nline', false],
    [{ role: 'user', content: 'one' }, '"user content"', false],
    [[{ a: ['x', { deep: 'found here' }] }, 12.5], 'deep found 12', true],
    [{ a: true, b: null }, 'true null', true],
  ])('%j has %s: %j', (value, query, expected) => {
    expect(matchWords(value, query)).toBe(expected)
  })
})

describe('ranges to mark', () => {
  const marked = (text: string, query: string) => {
    const ranges = findRanges(text, readSearchQuery(query))
    return ranges.map(({ from, to }) => text.slice(from, to))
  }

  it.each([
    ['a refund, REFUND or refunds', 'refund', ['refund', 'REFUND']],
    ['refund refunds refunding', 'refund*', ['refund', 'refunds', 'refunding']],
    ['not, sure; not sure', '"not sure"', ['not, sure', 'not sure']],
    ['un café et un cafe\u0301!', 'cafe', ['café', 'cafe\u0301']],
    ['Große Straße', 'strasse', ['Straße']],
    ['😀 東京タワー 😀 タワー', 'タワー', ['タワー', 'タワー']],
    ['か\u3099くせい がく', 'がく', ['か\u3099く', 'がく']],
    ['𝐁𝐨𝐥𝐝 bold', 'bold', ['𝐁𝐨𝐥𝐝', 'bold']],
    ['one two one', 'two one', ['one', 'two', 'one']],
    ['one two', '"one two" two', ['one two']],
    ['nothing', 'else', []],
    ['nothing', '', []],
  ])('of %j for %s', (text, query, expected) => {
    expect(marked(text, query)).toEqual(expected)
  })

  it('are as many as are asked for', () => {
    expect(findRanges('a '.repeat(1000), readSearchQuery('a'), 3)).toHaveLength(3)
  })
})
