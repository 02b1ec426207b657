/** What the comparison with other engines takes for granted about its data. */
import { expect, test } from 'vitest'
import { SpanWriter } from '../../bench/peers/generator/span-writer.ts'
import { rareWords } from '../../bench/peers/generator/vocabulary.ts'

interface Span {
  readonly id: string
  readonly span_id: string
  readonly root_span_id: string
  readonly span_parents: readonly string[] | null
  readonly created: string
  readonly input: unknown
  readonly output: unknown
  readonly error?: unknown
  readonly metadata: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
}

const rowCount = 20_000
const text = new SpanWriter().next(rowCount).toString()
const lines = text.trimEnd().split('\n')
const spans = lines.map((line) => JSON.parse(line) as Span)

test('every row is one line of JSON, about 1 KB long', () => {
  expect(lines).toHaveLength(rowCount)
  expect(new Set(spans.map(({ id }) => id)).size).toBe(rowCount)
  const mean = Buffer.byteLength(text) / rowCount
  expect(mean).toBeGreaterThan(900)
  expect(mean).toBeLessThan(1150)
})

test('the same seed gives the same rows, however many are asked for at a time', () => {
  const writer = new SpanWriter()
  const first = writer.next(1500).toString()
  expect(first + writer.next(500).toString()).toBe(`${lines.slice(0, 2000).join('\n')}\n`)
  expect(new SpanWriter(1).next(1).toString()).not.toBe(`${lines[0]}\n`)
})

test('rows are in the order of their time, and no time repeats', () => {
  for (let i = 1; i < rowCount; i++) {
    expect(spans[i]!.created > spans[i - 1]!.created, `row ${i}`).toBe(true)
  }
})

test('a trace begins with its only root and has at most 20 spans', () => {
  const traces = new Map<string, Span[]>()
  for (const span of spans) {
    const trace = traces.get(span.root_span_id)
    if (trace) trace.push(span)
    else traces.set(span.root_span_id, [span])
  }
  for (const [root, [first, ...others]] of traces) {
    expect(first!.span_parents).toBeNull()
    expect(root.startsWith(first!.span_id)).toBe(true)
    expect(others.every(({ span_parents: parents }) => parents?.[0] === first!.span_id)).toBe(true)
    expect(others.length).toBeLessThan(20)
  }
  expect(Math.max(...[...traces.values()].map((trace) => trace.length))).toBe(20)
})

test('rare words are in the rows that they are promised for, unless those have failed', () => {
  const texts = spans.map((span) => JSON.stringify(span))
  for (const { text: word, period, offset } of rareWords.thousandth) {
    const promised = [...spans.keys()].filter((i) => {
      return i % period === offset && spans[i]!.error === undefined
    })
    expect([...texts.keys()].filter((i) => texts[i]!.includes(word))).toEqual(promised)
  }
})

test('no rare word is a part of another', () => {
  const words = Object.values(rareWords)
    .flat()
    .map(({ text: word }) => word.toLowerCase())
  for (const word of words) expect(words.filter((other) => other.includes(word))).toEqual([word])
})

test('there are nulls, missing fields, several types under one path, and several scripts', () => {
  const priorities = spans.map(({ metadata }) => metadata.priority)
  const kinds = new Set(priorities.map((value) => typeof value))
  expect(kinds).toEqual(new Set(['undefined', 'string', 'number', 'boolean', 'object']))
  expect(spans.some(({ output, error }) => output === null && error !== undefined)).toBe(true)
  expect(spans.some(({ tags }) => tags === undefined)).toBe(true)
  for (const script of [/\p{sc=Latin}/u, /\p{sc=Han}/u, /\p{sc=Arabic}/u, /\p{sc=Devanagari}/u]) {
    expect(spans.some(({ output }) => script.test(JSON.stringify(output)))).toBe(true)
  }
  expect(/\p{Extended_Pictographic}/u.test(text)).toBe(true)
})
