/** What the kernel compresses, the package that reads blocks of rows gives back to the byte. */
import { uncompressSync } from 'lz4-napi'
import { expect, test } from 'vitest'
import { compressAlike } from '../../src/kernel/lz4.ts'

/** Numbers that look random and are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
}

function expectBack(texts: readonly Buffer[], dictionaryBytes: number): void {
  const dictionary = texts[0]!.subarray(-dictionaryBytes)
  const compressed = compressAlike(texts, dictionaryBytes)
  for (const [i, text] of texts.entries()) {
    const back = uncompressSync(compressed[i]!, i === 0 ? undefined : dictionary)
    expect(back.equals(text), `text ${i} of ${text.length} bytes`).toBe(true)
  }
}

test('texts of any words come back, with and without matches in the first one', () => {
  const random = numbers(7)
  for (let run = 0; run < 600; run++) {
    const letters = run % 3 === 0 ? 3 : 256
    const words = Array.from({ length: 1 + random(20) }, () =>
      Buffer.from(Array.from({ length: random(12) }, () => random(letters))),
    )
    const lengths = run % 40 === 0 ? 20_000 : 60
    const text = () =>
      Buffer.concat(Array.from({ length: random(lengths) }, () => words[random(words.length)]!))
    const texts = Array.from({ length: 1 + random(5) }, text)
    expectBack(texts, run % 2 === 0 ? 32_768 : 100)
  }
})

test('texts of every short length come back: the last bytes are never matched', () => {
  for (let length = 0; length < 300; length++) {
    expectBack([Buffer.alloc(length, 'a'), Buffer.alloc(length, 'ab')], 32_768)
  }
})

test('a text that nothing repeats in takes hardly more than it is', () => {
  const random = numbers(1)
  const text = Buffer.from(Array.from({ length: 100_000 }, () => random(256)))
  expectBack([text], 32_768)
  expect(compressAlike([text], 32_768)[0]!.length).toBeLessThan(text.length * 1.005)
})

test('a text that repeats the first takes next to nothing', () => {
  const random = numbers(2)
  const text = Buffer.from(Array.from({ length: 16_000 }, () => random(256)))
  const [, repeated] = compressAlike([text, text], 32_768)
  expect(repeated!.length).toBeLessThan(200)
  expectBack([text, text], 32_768)
})
