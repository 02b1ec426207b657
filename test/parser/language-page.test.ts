/** Runs every query of the language page, and calculates what it says expressions give. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine.ts'
import { errorCodes } from '../../src/error.ts'
import { clauseNames } from '../../src/parser/clause.ts'
import { castFunctions, reservedWords } from '../../src/parser/keyword.ts'
import { intervalUnits } from '../../src/type/parse-interval.ts'
import { recordColumns } from '../../src/type/record.ts'
import { askService, requestOf } from '../support/slt-answer.ts'
import { GoldenStore } from '../support/slt-runner.ts'

const page = readFileSync(new URL('../../src/docs/language.md', import.meta.url), 'utf8')
/** The examples of functions have tests of their own. */
const written = page.replace(/<!-- functions, written[\s\S]*?<!-- end of functions -->/, '')

interface Example {
  readonly language: string
  readonly text: string
  readonly line: number
}

const examples = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ({ 1: language, 2: text, index }): Example => {
    return {
      language: language!,
      text: text!.trim(),
      line: page.slice(0, index).split('\n').length,
    }
  },
)
const queries = examples.filter(({ language }) => language !== 'ebnf' && language !== 'text')

const values = [...written.matchAll(/`([^`\n]+)` → `([^`\n]+)`/g)].map(
  ({ 1: expression, 2: value }) => [expression!, value!] as const,
)

const hour = 3_600_000
const models = ['gpt-4', 'gpt-4o', 'claude']

let store: GoldenStore
let engine: Engine

beforeAll(async () => {
  store = await GoldenStore.open({ state: 'delta', workers: 0 })
  engine = store.engine
  const { entry: project } = await store.gate.findOrCreate('project', { name: 'support' })
  const given = { project_id: project.id }
  await insert('project_logs', project.id, traces('log'))
  for (const name of ['baseline', 'candidate']) {
    const { entry } = await store.gate.findOrCreate('experiment', { ...given, name })
    await insert('experiment', entry.id, runs(name))
  }
  const { entry: dataset } = await store.gate.findOrCreate('dataset', {
    ...given,
    name: 'questions',
  })
  await insert('dataset', dataset.id, [{ id: 'q1', input: 'question 1', expected: 'answer' }])
})

afterAll(() => store.close())

/** Ten traces, each of a root and a call of a model; every third call fails. */
function traces(prefix: string): object[] {
  return Array.from({ length: 10 }, (_, i) => {
    const root = `${prefix}-${i}`
    const failed = i % 3 === 0
    const created = new Date(Date.now() - i * 12 * hour).toISOString()
    return [
      {
        id: root,
        span_id: root,
        root_span_id: root,
        created,
        input: `question ${i} of a customer who asks for a refund`,
        output: failed ? null : 'answer',
        tags: failed ? ['production', 'hard'] : ['production'],
        scores: { Factuality: i / 10 },
        metadata: { env: i % 2 ? 'test' : 'prod', user: `u${i % 4}` },
        span_attributes: { name: 'handle', type: 'task' },
        metrics: { start: i, end: i + 2 },
      },
      {
        id: `${root}-call`,
        span_id: `${root}-call`,
        root_span_id: root,
        span_parents: [root],
        created,
        metadata: { model: models[i % models.length], env: i % 2 ? 'test' : 'prod', user: 'u1' },
        span_attributes: { name: 'call', type: 'llm' },
        metrics: { start: i, end: i + 1, tokens: 100 * i, prompt_tokens: 60 * i },
        ...(failed && { error: { type: 'timeout' } }),
      },
    ]
  }).flat()
}

/** Twelve cases; the candidate is worse at every second one. */
function runs(name: string): object[] {
  return Array.from({ length: 12 }, (_, i) => ({
    id: `${name}-${i}`,
    input: `question ${i}`,
    output: `answer of ${name}`,
    tags: ['a'],
    scores: { Factuality: name === 'baseline' ? i / 12 : (i % 2) / 2, Style: 0.5 },
    metadata: { model: models[i % models.length] },
  }))
}

async function insert(
  type: 'project_logs' | 'experiment' | 'dataset',
  id: string,
  events: readonly object[],
): Promise<void> {
  const body = Buffer.from(JSON.stringify({ events }))
  await engine.insert({ body, form: 'events', object: { type, id }, view: store.gate })
}

async function rowsOf(query: unknown): Promise<readonly string[]> {
  const { rows } = await askService(engine, store.gate, requestOf(JSON.stringify({ query })))
  return rows
}

describe('the queries of the language page', () => {
  it('are found', () => {
    expect(queries.length).toBeGreaterThan(20)
  })

  it.each(queries)('line $line gives rows', async ({ language, text }) => {
    expect(['btql', 'sql', 'json']).toContain(language)
    const rows = await rowsOf(language === 'json' ? JSON.parse(text) : text)
    expect(rows.length).toBeGreaterThan(0)
  })

  const pairs = queries.flatMap((query, i) => {
    const before = queries[i - 1]
    return before && query.language !== 'btql' ? [{ query, before, line: query.line }] : []
  })

  it.each(pairs)('line $line says the same as the query before it', async ({ query, before }) => {
    const given = query.language === 'json' ? JSON.parse(query.text) : query.text
    expect(await rowsOf(given)).toEqual(await rowsOf(before.text))
  })
})

describe('the values of the language page', () => {
  it('are found', () => {
    expect(values.length).toBeGreaterThan(30)
  })

  it.each(values)('%s gives %s', async (expression, value) => {
    const [row] = await rowsOf(`select: (${expression}) as v | from: dataset('questions')`)
    expect(row).toBe(`{"v":${value}}`)
  })
})

describe('the language page names', () => {
  const codes = Object.keys(errorCodes).filter((code) => /^(PARSE|BIND|LINT)_/.test(code))
  const words = [
    ...clauseNames,
    ...recordColumns.map(({ name }) => name),
    ...castFunctions.keys(),
    ...castFunctions.values(),
    ...intervalUnits,
    ...reservedWords,
    ...codes,
  ]

  it.each([...new Set(words)])('%s', (word) => {
    expect(written).toMatch(new RegExp(`\`${word}\`|"${word}"`))
  })

  it('headings that its links lead to', () => {
    const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(({ 1: heading }) =>
      heading!
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    )
    const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(({ 1: target }) => target)
    expect(links.length).toBeGreaterThan(0)
    for (const link of links) expect(headings).toContain(link)
  })
})
