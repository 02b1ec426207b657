import { expect, test } from 'vitest'
import { clauseWords, cursorPlace, sourceIn } from '../../src/parser/cursor-place.ts'

/** The place of the cursor `^`. */
function at(marked: string) {
  return cursorPlace(marked.replace('^', ''), marked.indexOf('^'))
}

test.each([
  ['^', { kind: 'clause', start: 0, prefix: '' }],
  ['sel^', { kind: 'clause', start: 0, prefix: 'sel' }],
  ['select: id | fil^', { kind: 'clause', start: 13, prefix: 'fil' }],
  ['select: id\nfil^', { kind: 'clause', start: 11, prefix: 'fil' }],
  ['select: id,\nscor^', { kind: 'expression', start: 12, prefix: 'scor', path: [] }],
  ['select: ^', { kind: 'expression', start: 8, prefix: '', path: [] }],
  ['select: (\nid ^', { kind: 'expression', start: 13, prefix: '', path: [] }],
  ['filter: metadata.^', { kind: 'expression', start: 8, prefix: '', path: ['metadata'] }],
  ['filter: a.b.mo^ = 1', { kind: 'expression', start: 8, prefix: 'mo', path: ['a', 'b'] }],
  ['filter: a."b c".d^', { kind: 'expression', start: 8, prefix: 'd', path: ['a', 'b c'] }],
  ['filter: metadata."b c^', { kind: 'expression', start: 8, prefix: 'b c', path: ['metadata'] }],
  ['select: id | from: ^', { kind: 'source', start: 19, prefix: '' }],
  ['from:exp^', { kind: 'source', start: 5, prefix: 'exp' }],
  ['SELECT id FROM exp^', { kind: 'source', start: 15, prefix: 'exp' }],
  ["from: experiment('my ex^", { kind: 'object', start: 17, prefix: 'my ex', table: 'experiment' }],
  ['from: dataset("a", "^', { kind: 'object', start: 19, prefix: '', table: 'dataset' }],
  ["filter: lower('x^", { kind: 'value', start: 14, prefix: 'x' }],
  ["filter: a = 'fro^", { kind: 'value', start: 12, prefix: 'fro' }],
  ['limit: 1^', { kind: 'value', start: 7, prefix: '1' }],
  ['select: id -- note^', { kind: 'value', start: 18, prefix: '' }],
])('%s', (marked, place) => {
  expect(at(marked)).toEqual(place)
})

test('a cursor before the end sees only what stands before it', () => {
  expect(at("select: sco^ | from: experiment('x')")).toMatchObject({ prefix: 'sco' })
})

test.each([
  ["select: | from: experiment('x') | filter: (", 'experiment'],
  ["select: a | from: (select: * | from: dataset('x'))", 'dataset'],
  ["SELECT a FROM project_logs('x') WHERE", 'project_logs'],
  ["from: experiment('x' | select: a", undefined],
  ['select: metadata.from', undefined],
  ['select: from', undefined],
])('the source of %s', (text, table) => {
  expect(sourceIn(text)?.table).toBe(table)
})

test('clauses that are there are not offered again; SQL has its own', () => {
  expect(clauseWords('select: a | from: x')).not.toContain('select')
  expect(clauseWords('select: a | from: x')).toContain('filter')
  expect(clauseWords('select a')).toContain('WHERE')
  expect(clauseWords('select a')).not.toContain('filter')
})
