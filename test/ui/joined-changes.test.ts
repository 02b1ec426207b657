import { describe, expect, test } from 'vitest'
import { joinedChanges } from '../../src/ui/component/joined-changes.ts'

/** `-old -`, `+new +`, or text that both have. */
function partsOf(...texts: readonly string[]) {
  return texts.map((text) => {
    const added = text.startsWith('+')
    const removed = text.startsWith('-')
    return { value: added || removed ? text.slice(1) : text, added, removed, count: 1 }
  })
}

function textsOf(...texts: readonly string[]): readonly string[] {
  return joinedChanges(partsOf(...texts)).map(({ value, added, removed }) => {
    return `${added ? '+' : removed ? '-' : ''}${value}`
  })
}

describe('words that are replaced one after another', () => {
  test('are one change, with the blanks between them', () => {
    expect(textsOf('"', '-How', '+Which', ' ', '-do', '+plan', ' ', '-I', '?')).toEqual([
      '"',
      '-How do I',
      '+Which plan ',
      '?',
    ])
  })

  test('stay apart where lines end, where words between them stay, and where nothing is replaced', () => {
    for (const texts of [
      ['-a', '+b', '\n  ', '-c', '+d'],
      ['-a', '+b', ' and ', '-c', '+d'],
      ['+a', ' ', '+b'],
      ['-a', ' ', '-b'],
    ]) {
      expect(textsOf(...texts)).toEqual(texts)
    }
  })
})
