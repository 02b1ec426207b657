/** The folding of full-text search, for every character that there is. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isStable } from '../../src/executor/text/word-search.ts'
import { foldAccent, foldAccents, isPartwise } from '../../src/type/fold-accents.ts'
import { foldText } from '../../src/type/fold-text.ts'
import { isOfPart, isOfWord, wordClass } from '../../src/type/word-class.ts'

const characters = Array.from({ length: 0x110000 }, (_, i) => i)
  .filter((codePoint) => codePoint < 0xd800 || codePoint >= 0xe000)
  .map((codePoint) => String.fromCodePoint(codePoint))

describe('folding of accents', () => {
  it.each([
    ['Café', 'cafe'],
    ['CAFE\u0301', 'cafe'],
    ['naïve Ångström', 'naive angstrom'],
    ['Straße STRASSE', 'strasse strasse'],
    ['Łódź, Øresund', 'lodz, oresund'],
    ['ΟΔΟΣ οδός', 'οδοσ οδοσ'],
    ['Ёлка', 'елка'],
    ['ＡＢＣ１２', 'abc12'],
    ['ﬁne x²', 'fine x2'],
    ['𝐁𝐨𝐥𝐝', 'bold'],
    ['İstanbul ısı', 'istanbul isi'],
    ['שָׁלוֹם', 'שלום'],
    ['مُحَمَّد', 'محمد'],
    ['हिन्दी ไทย', 'हिन्दी ไทย'],
    ['東京 がく ﾃｽﾄ 한국어', '東京 がく テスト 한국어'],
    ['co\u00adoperate 👩\u200d💻 ½', 'cooperate 👩💻 ½'],
  ])('takes %s for %s', (text, folded) => {
    expect(foldAccents(text)).toBe(folded)
  })

  it('goes character by character, takes a text and its lower case for the same, and ends', () => {
    for (const character of characters) {
      const folded = foldAccent(character.codePointAt(0)!)
      const isAlike =
        foldAccents(character.toLowerCase()) === folded &&
        foldAccents(foldText(character)) === folded &&
        foldAccents(`a${character}a`) === `a${folded}a` &&
        foldAccents(folded) === folded
      if (!isAlike) expect.fail(`U+${character.codePointAt(0)!.toString(16)} folds to ${folded}`)
    }
  })

  it('leaves words where they are, and of what kind they are', () => {
    for (const character of characters) {
      const found = wordClass(character.codePointAt(0)!)
      for (const letter of foldAccent(character.codePointAt(0)!)) {
        const folded = wordClass(letter.codePointAt(0)!)
        if (isOfWord(folded) === isOfWord(found) && isOfPart(folded) === isOfPart(found)) continue
        expect.fail(`U+${character.codePointAt(0)!.toString(16)} folds to another kind, ${letter}`)
      }
    }
  })

  it('has room for what bytes become', () => {
    for (const character of characters) {
      const folded = foldAccent(character.codePointAt(0)!)
      if (Buffer.byteLength(folded) <= Buffer.byteLength(character) * 3) continue
      expect.fail(`${character} folds to ${folded}`)
    }
  })

  it('knows the characters of scripts without gaps that others are folded to', () => {
    for (const character of characters) {
      for (const letter of foldAccent(character.codePointAt(0)!)) {
        if (letter === character || !isPartwise(letter)) continue
        if (isStable(letter)) expect.fail(`${character} folds to ${letter}`)
      }
    }
  })

  it('of texts is that of their parts', () => {
    const text = fc.string({ unit: 'binary', maxLength: 10 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(foldAccents(a + b)).toBe(foldAccents(a) + foldAccents(b))
      }),
      { numRuns: 1000 },
    )
  })
})
