import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mayFoldToAscii } from '../../src/executor/text/folds-to-ascii.ts'
import { foldAccent } from '../../src/type/fold-accents.ts'

function mayFold(text: string): boolean {
  const bytes = Buffer.from(`before ${text} after`)
  return mayFoldToAscii(bytes, 7, bytes.length - 6)
}

describe('characters that full-text search folds to ASCII', () => {
  it('are letters with accents, in other forms, and what is left out of words', () => {
    for (const text of ['naïve', 'ﬁne', 'ｗｉｄｅ', 'e\u0301', 'co\u00adop', 'a\u200db', '𝐛old']) {
      expect(mayFold(text), text).toBe(true)
    }
  })

  it('are not those of other scripts, quotes, dashes and pictures', () => {
    for (const text of ['plain', 'привет', '错误', '한국어', 'ไทย', 'हिन्दी', '“so” – ’tis', '😀']) {
      expect(mayFold(text), text).toBe(false)
    }
  })

  it('are found wherever folding changes what of a text is ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 8 }), (text) => {
        const folds = Array.from(text, (character) => {
          const folded = foldAccent(character.codePointAt(0)!)
          return character > '\u007f' && (folded === '' || /\p{ASCII}/u.test(folded))
        })
        if (folds.includes(true)) expect(mayFold(text)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
