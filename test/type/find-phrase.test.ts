/** What full-text search finds, and what is marked of it. */
import { describe, expect, it } from 'vitest'
import { findRanges } from '../../src/type/find-phrase.ts'
import { readSearchQuery } from '../../src/type/search-query.ts'
import { matchWords } from '../../src/type/text-match.ts'
import type { Value } from '../../src/type/value.ts'

describe('a query of full-text search', () => {
  const told = (query: string) =>
    readSearchQuery(query).map((phrase) => {
      const mark = { word: '', start: '*', part: '~', sign: '' }
      return phrase
        .map(({ text, fits, isAttached }) => `${isAttached ? '+' : ' '}${text}${mark[fits]}`)
        .join('')
        .trim()
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
    ['  ', []],
    ['... — , ; " \' ( ) - / * ``` \u200b', []],
    ['🎉', ['🎉']],
    ['C++ c', ['c+++', 'c']],
    ['(C++), C#; .NET!', ['c+++', 'c+#', '.+net']],
    ['"price: €5"', ['price €+5']],
    ['100% $5.00', ['100+%', '$+5', '00']],
    ['great!🎉 🎉🎉?', ['great', '🎉', '🎉🎉']],
    ['👩‍💻 ❤️ 👍🏽 🇩🇪', ['👩‍💻', '❤', '👍🏽', '🇩🇪']],
    [':) :-( =) (: ?! // {}', [':)', ':-(', '=)', '(:', '//', '{}']],
    [':D', [':+d']],
    ['a→b x!=y p->q </div>', ['a+→+b', 'x+!=+y', 'p+->+q', '</+div+>']],
    ['&& @ala #1 R&D', ['&&', '@+ala', '#+1', 'r+&+d']],
    ['C++-based 50%-off', ['c+++', 'based', '50+%', 'off']],
    ['user@example.com', ['user+@+example', 'com']],
    ["don't /api/v1 foo_bar gpt-4o", ['don', 't', 'api', 'v1', 'foo', 'bar', 'gpt', '4o']],
    ['hello, world!', ['hello', 'world']],
    ['"hello, (world)!"', ['hello world']],
    ['{"a":1}', ['a', '1']],
    ['**bold** `code` *→*', ['bold*', 'code', '→']],
    ['=\u0338', ['≠']],
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
    ['party 🎉🎉 time', '🎉', true],
    ['party', '🎉', false],
    ['party 🎉', 'party', true],
    ['written in C++11', 'C++', true],
    ['written in C++', 'c', true],
    ['written in C', 'C++', false],
    ['written in C + +', 'C++', false],
    ['the price: it is €5', '"price: €5"', false],
    ['the price €5', '"price: €5"', true],
    ['the price: (now) €5', '"price: €5"', false],
    ['the price is €50', '€5', false],
    ['the price is 5', '€5', false],
    ['price → ⇒ €€5', '"price → €5"', true],
    ['price ⇒ → 5', '"price → ⇒ 5"', false],
    ['not → sure', '"not sure"', true],
    ['not 👩‍💻 sure', '"not sure"', true],
    ['👩‍💻', '👩', false],
    ['👩‍💻', '💻', false],
    ['👩💻', '👩‍💻', false],
    ['at work 👩‍💻!', '👩‍💻', true],
    ['👍🏽', '👍', false],
    ['👍🏽', '👍🏽', true],
    ['👍', '👍🏽', false],
    ['👍🏽', '🏽', false],
    ['❤', '❤️', true],
    ['❤️', '❤', true],
    ['🇦🇩🇪🇸', '🇩🇪', false],
    ['🇦🇩🇩🇪🇸', '🇩🇪', true],
    ['🇩🇪', '🇩', false],
    ['🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏴', false],
    ['1️⃣', '1️⃣', true],
    ['1️⃣', '1', false],
    ['a != b', '!=', true],
    ['a = b', '!=', false],
    ['a =\u0338 b', '≠', true],
    ['a ≠ b', '=', false],
    ['x\ud83e y', '\ud83e', true],
    ['x🤖 y', '\ud83e', false],
    ['x🤖 y', '\udd16', false],
    ['fine :)', ':)', true],
    ['fine : )', ':)', false],
    ['ASP.NET', '.NET', true],
    ['the net', '.NET', false],
    ['100%', '100', true],
    ['100', '100%', false],
    [1e21, '+', true],
    [{ 'a→b': 1 }, '→', true],
    [{ a: '→', b: 'c' }, '"→ c"', false],
    ['anything', '?!', false],
    ['anything', '', false],
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
    ['a 🎉, b 🎉🎉', '🎉', ['🎉', '🎉🎉']],
    ['I ❤️ it 👩‍💻', '❤ 👩‍💻', ['❤️', '👩‍💻']],
    ['C++, C and c++', 'C++', ['C++', 'c++']],
    ['price: €5', '"price €5"', ['price: €5']],
    ['a =\u0338 b', '≠', ['=\u0338']],
    ['nothing', '', []],
  ])('of %j for %s', (text, query, expected) => {
    expect(marked(text, query)).toEqual(expected)
  })

  it('are as many as are asked for', () => {
    expect(findRanges('a '.repeat(1000), readSearchQuery('a'), 3)).toHaveLength(3)
  })
})
