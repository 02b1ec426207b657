import { expect, test } from 'vitest'
import { headerLines } from '../../src/server/http/header-lines.ts'

test('headers are lines, each with its end', () => {
  expect(headerLines({ etag: '"1"', vary: 'accept' })).toBe('etag: "1"\r\nvary: accept\r\n')
})

test('no value can begin a header of its own', () => {
  for (const value of ['a\r\nset-cookie: b', 'a\nb', 'a\rb']) {
    expect(() => headerLines({ etag: value })).toThrow('header etag has the end of a line in it')
  }
})
