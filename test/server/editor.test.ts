import { afterAll, beforeAll, expect, test } from 'vitest'
import { printString } from '../../src/parser/print.ts'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
let experiment: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
  experiment = await service.create('experiment', project)
})
afterAll(() => service.stop())

async function check(query: string, more: object = {}) {
  const { status, json, text } = await service.request('/btql/check', { body: { query, ...more } })
  if (status !== 200) throw new Error(text)
  return json
}

test('a query without fault has no diagnostics, and both its canonical texts', async () => {
  expect(await check(`from: experiment("${experiment}") | select:   id,scores.a|limit:3`)).toEqual({
    diagnostics: [],
    canonical: {
      btql: expect.stringContaining('select: id, scores.a'),
      sql: expect.stringContaining('SELECT id, scores.a'),
    },
  })
})

test('a filter expression is checked with its source', async () => {
  const from = `experiment('${experiment}')`
  const { diagnostics, canonical } = await check('scores.a > 0.5', { from })
  expect(diagnostics).toMatchObject([{ severity: 'info', code: 'fullSpanDocuments' }])
  expect(canonical.btql).toContain('filter: scores.a > 0.5')
})

test('every fault of the text is a diagnostic with its place', async () => {
  const { diagnostics, canonical } = await check('select: (1 +\nfilter: id = | limit: x')
  expect(canonical).toBeNull()
  const faults = diagnostics as unknown as { severity: string; line: number }[]
  expect(faults.length).toBeGreaterThan(1)
  expect(new Set(faults.map(({ severity }) => severity))).toEqual(new Set(['error']))
  expect(faults.at(-1)).toMatchObject({ line: 2, column: expect.any(Number), endLine: 2 })
})

test('a fault beyond the grammar leaves the canonical texts', async () => {
  const { diagnostics, canonical } = await check(
    `select: id, scroes.a | from: experiment('${experiment}')`,
  )
  expect(diagnostics).toEqual([
    {
      severity: 'error',
      code: 'BIND_UNKNOWN_FIELD',
      message: expect.stringContaining('scroes'),
      hint: expect.stringContaining('scores'),
      line: 1,
      column: 13,
      endLine: 1,
      endColumn: expect.any(Number),
    },
  ])
  expect(canonical.sql).toContain('scroes.a')
})

test('warnings are diagnostics, in strict mode too', async () => {
  const query = `select: id | from: project_logs('${project}')`
  const { diagnostics } = await check(query, { lint_mode: 'strict' })
  expect(diagnostics).toMatchObject([
    { severity: 'warning', code: 'missingSegmentEliminationSpecs' },
  ])
  expect(await check(query, { lint_mode: 'off' })).toMatchObject({ diagnostics: [] })
})

test('what may not be read is a diagnostic as well; a bad request is none', async () => {
  const { diagnostics } = await check("select: id | from: experiment('none')")
  expect(diagnostics).toMatchObject([{ code: 'ACCESS_DENIED', line: 1, column: 31 }])
  const { status } = await service.request('/btql/check', { body: { query: 1 } })
  expect(status).toBe(400)
})

async function completions(query: string, more: object = {}): Promise<string[]> {
  const body = { query, ...more }
  const { status, json, text } = await service.request('/btql/complete', { body })
  if (status !== 200) throw new Error(text)
  return (json.items as unknown as { text: string }[]).map(({ text }) => text)
}

test('what may be written is completed from the language and from the records', async () => {
  const rows = [{ id: 'c', metadata: { model: 'm', 'top k': 1 }, verdict: 'x' }]
  await service.insert('experiment', experiment, rows)
  const from = `from: experiment('${experiment}')`
  expect(await completions('fil')).toEqual([
    'filter: ',
    'span_filter: ',
    'trace_filter: ',
    'final_filter: ',
  ])
  expect(await completions(`${from} | select: verd`)).toEqual(['verdict'])
  expect(await completions(`${from} | select: metadata.`)).toEqual([
    'metadata.model',
    'metadata."top k"',
  ])
  expect(await completions(`${from} | filter: metadata.mo`)).toEqual(['metadata.model'])
  expect(await completions('mod', { from: `experiment('${experiment}')` })).toEqual([
    'metadata.model',
    'mode(',
    'mod(',
  ])
  expect(await completions(`SELECT id FROM experiment('${experiment}') WHE`)).toEqual(['WHERE '])
  expect(await completions('from: project_l')).toEqual(['project_logs('])
  expect(await completions("from: experiment('")).toEqual(["'x'"])
  expect(await completions("filter: id = '")).toEqual([])
})

test('fields that most records have come first, and are known before a source is written', async () => {
  const project = await service.project('completed')
  const rows = [{ metadata: { rare: 'x' } }, ...Array(9).fill({ metadata: { model: 'gpt-4o' } })]
  await service.insert('project_logs', project, rows)
  const place = { project_name: 'completed' }
  const fields = await completions('select: metadata.', place)
  expect(fields).toEqual(['metadata.model', 'metadata.rare'])
  expect((await completions('select: ', place))[0]).toBe('metadata.model')
  expect(await completions('select: metadata.')).toEqual([])
  // A source that is written goes before that.
  const other = `from: experiment('${experiment}') | select: metadata.r`
  expect(await completions(other, place)).toEqual([])
})

test('values are completed by those that the field has, the most frequent first', async () => {
  const project = await service.project('valued')
  const models = ['rare one', ...Array(5).fill("o'model"), ...Array(2).fill('gpt-4o')]
  const rows = models.map((model) => ({ metadata: { model }, tags: ['a'] }))
  await service.insert('project_logs', project, rows)
  const place = { project_name: 'valued' }
  const all = [printString("o'model"), "'gpt-4o'", "'rare one'"]
  for (const before of [
    'filter: metadata.model = ',
    "filter: metadata.model = '",
    'filter: metadata.model != ',
    'filter: metadata."model" in [',
    "filter: metadata.model not in ('x', ",
    'filter: error is null and metadata.model = ',
    "SELECT id FROM project_logs('valued') WHERE metadata.model = ",
  ]) {
    expect((await completions(before, place)).slice(0, 3), before).toEqual(all)
  }
  expect(await completions("filter: metadata.model = 'gp", place)).toEqual(["'gpt-4o'"])
  expect((await completions('filter: metadata.model = rar', place))[0]).toBe("'rare one'")
  for (const before of ["filter: id = '", 'filter: metadata.model > 1 and ', "select: '"]) {
    expect(await completions(before, place), before).not.toContain("'gpt-4o'")
  }
})

test('a completion tells what it is and where it goes', async () => {
  const query = `from: experiment('${experiment}') | select: inp`
  const { json } = await service.request('/btql/complete', { body: { query } })
  expect(json).toEqual({
    from: query.length - 3,
    to: query.length,
    items: [{ text: 'input', kind: 'field', detail: 'What went in' }],
  })
})

test('nothing is told of what the caller may not read, and a cursor must be in the text', async () => {
  expect(await completions("from: experiment('none') | select: metadata.")).toEqual([])
  for (const position of [-1, 3, 0.5, '1']) {
    const body = { query: 'ab', position }
    const { status, json } = await service.request('/btql/complete', { body })
    expect([status, json.error.path]).toEqual([400, 'position'])
  }
})
