import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeFunctions } from '../../src/function/describe.ts'

const page = new URL('../../src/docs/language.md', import.meta.url)
const begin =
  '<!-- functions, written by: ASSAY_UPDATE=1 npm test -- test/function/describe.test.ts -->'
const end = '<!-- end of functions -->'

/** With ASSAY_UPDATE=1 it writes what it otherwise expects. */
test('the language page lists the functions as they are', () => {
  const text = readFileSync(page, 'utf8')
  const [start, stop] = [text.indexOf(begin), text.indexOf(end)]
  expect(start, `the page has the line ${begin}`).toBeGreaterThanOrEqual(0)
  expect(stop, `the page has the line ${end}`).toBeGreaterThan(start)
  const [before, after] = [text.slice(0, start + begin.length), text.slice(stop)]
  const expected = `${before}\n\n${describeFunctions()}\n\n${after}`
  if (process.env.ASSAY_UPDATE === '1') writeFileSync(page, expected)
  else expect(withoutPadding(text)).toBe(withoutPadding(expected))
})

/** The formatter aligns the columns of tables. */
function withoutPadding(markdown: string): string {
  return markdown.replace(/ +/g, ' ').replace(/-{3,}/g, '---')
}
