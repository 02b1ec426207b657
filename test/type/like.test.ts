import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileLike, like, parseLike } from '../../src/type/like.ts'
import { Timestamp, type Value } from '../../src/type/value.ts'

describe('like', () => {
  it.each<[string, string, boolean]>([
    ['', '', true],
    ['a', '', false],
    ['', '%', true],
    ['abc', '%', true],
    ['abc', '%%', true],
    ['abc', 'abc', true],
    ['abc', 'ab', false],
    ['abc', 'ABC', false],
    ['abc', 'a%', true],
    ['abc', 'b%', false],
    ['abc', '%c', true],
    ['abc', '%b', false],
    ['abc', '%b%', true],
    ['abc', '%d%', false],
    ['abc', 'a%c', true],
    ['ac', 'a%c', true],
    ['a', 'a%a', false],
    ['aa', 'a%a', true],
    ['abcabc', '%bc%bc', true],
    ['abc', '%bc%bc', false],
    ['abc', 'a_c', true],
    ['abc', '___', true],
    ['abc', '__', false],
    ['abc', '____', false],
    ['abc', '_%', true],
    ['', '_%', false],
    ['abc', '%_', true],
    ['abc', '%b_%', true],
    ['ab', '%b_%', false],
    ['abab', '%_b%_b', true],
    ['xaxbx', '%a_b%', true],
    ['aab', '%_ab', true],
    ['a😀b', 'a_b', true],
    ['a😀b', 'a__b', false],
    ['😀', '_', true],
    ['a😀', '%_', true],
    ['x🤖', '%\ud83e%', false],
    ['x🤖', '%\udd16', false],
    ['x🤖', 'x\ud83e_', false],
    ['x🤖', 'x\ud83e%', false],
    ['x🤖y', '_%\udd16y', false],
    ['x\ud83ey', '%\ud83e%', true],
    ['x\ud83ey', 'x_y', true],
    ['👍🏽', '__', true],
    ['50%', '50\\%', true],
    ['500', '50\\%', false],
    ['a_b', 'a\\_b', true],
    ['axb', 'a\\_b', false],
    ['a\\b', 'a\\\\b', true],
    ['ab', 'a\\b', true],
    ['a\\', 'a\\', true],
    ['a\nb', 'a%b', true],
    ['a\nb', 'a_b', true],
    ['a.c', 'a.c', true],
    ['abc', 'a.c', false],
    ['aXbXc', 'a%b%c%', true],
    ['mississippi', 'm%iss%ip%i', true],
    ['mississippi', 'm%iss%iss%iss%', false],
  ])('%j like %j is %j', (text, pattern, expected) => {
    expect(compileLike(pattern, false)(text)).toBe(expected)
  })

  it.each<[string, string, boolean]>([
    ['HELLO', 'hello', true],
    ['hello', '%ELL%', true],
    ['ÉTÉ', 'été', true],
    ['ГОРОД', '%город%', true],
    ['abc', '%D%', false],
  ])('%j ilike %j is %j', (text, pattern, expected) => {
    expect(compileLike(pattern, true)(text)).toBe(expected)
  })

  it.each<[Value, Value, boolean | null]>([
    [null, '%', null],
    ['a', null, null],
    ['1', 1, null],
    [12, '1%', true],
    [true, 'tr%', true],
    [{ a: ['cat'] }, '%"cat"%', true],
    [{ a: 1 }, '{"a":1}', true],
    [[1, 2], '[1,2]', true],
    [new Timestamp(0), '1970-%', true],
  ])('%j like %j is %j', (value, pattern, expected) => {
    expect(like(value, pattern, false)).toBe(expected)
  })

  it('agrees with a regular expression', () => {
    const alphabet = fc.constantFrom('a', 'b', '😀', '%', '_', '\\')
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '%'), maxLength: 12 })
    fc.assert(
      fc.property(text, fc.string({ unit: alphabet, maxLength: 10 }), (value, pattern) => {
        expect(compileLike(pattern, false)(value)).toBe(toRegExp(pattern).test(value))
      }),
      { numRuns: 2000 },
    )
  })

  it('does not slow down on patterns made to provoke backtracking', () => {
    const text = 'a'.repeat(200_000)
    const pattern = `${'%a_'.repeat(2_000)}b%`
    const started = performance.now()
    expect(compileLike(pattern, false)(text)).toBe(false)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('parseLike', () => {
  it.each<[string, string, string]>([
    ['abc', 'exact', 'abc'],
    ['', 'exact', ''],
    ['abc%', 'prefix', 'abc'],
    ['%abc', 'suffix', 'abc'],
    ['%abc%', 'contains', 'abc'],
    ['%', 'contains', ''],
    ['%%a%%', 'contains', 'a'],
    ['%50\\%%', 'contains', '50%'],
    ['a_c', 'general', 'a'],
    ['a%bcd%e', 'general', 'bcd'],
    ['___', 'general', ''],
  ])('%j is %s %j', (pattern, kind, needle) => {
    expect(parseLike(pattern, false)).toMatchObject({ kind, needle })
  })

  it('gives the needle in lower case when case does not count', () => {
    expect(parseLike('%ÄB%', true)).toMatchObject({ kind: 'contains', needle: 'äb' })
  })
})

function toRegExp(pattern: string): RegExp {
  let source = ''
  const characters = [...pattern]
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!
    if (character === '%') source += '[^]*'
    else if (character === '_') source += '[^]'
    else if (character === '\\' && i + 1 < characters.length)
      source += escapeCharacter(characters[++i]!)
    else source += escapeCharacter(character)
  }
  return new RegExp(`^${source}$`, 'u')
}

function escapeCharacter(character: string): string {
  return /[\\%_^$.*+?()[\]{}|/-]/.test(character) && !/[%_]/.test(character)
    ? `\\${character}`
    : character
}
