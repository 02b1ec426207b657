import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { failedExport, runExport } from '../support/carry-out.ts'
import { DuckDB } from '../support/duckdb.ts'
import { exportedRanges, exportedRows, filesIn } from '../support/export-files.ts'
import { type AnyJson, RunningService } from '../support/running-service.ts'

const allowed = mkdtempSync(join(tmpdir(), 'assay-exports-'))
let service: RunningService
let made = 0

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_EXPORT_FOLDERS: allowed })
})

afterAll(async () => {
  await service.stop()
  rmSync(allowed, { recursive: true, force: true })
})

interface Made {
  readonly id: string
  readonly folder: string
}

const spans = { type: 'log_spans' }

/** Daily, so that none runs by itself but the first time. */
async function makeExport(project_id: string, more: object = {}, key?: string): Promise<Made> {
  const folder = join(allowed, `e${made++}`)
  const config = {
    event_type: 'btql_export',
    export_definition: spans,
    export_path: folder,
    format: 'jsonl',
    interval_seconds: 86_400,
    credentials: { type: 'service' },
    ...more,
  }
  const answer = await service.request('/v1/project_automation', {
    body: { project_id, name: `export ${made}`, config },
    ...(key !== undefined && { key }),
  })
  expect(answer.status, answer.text).toBe(200)
  return { id: String(answer.json.id), folder }
}

function run({ id }: Made): Promise<AnyJson> {
  return runExport(service, id)
}

function begin({ id }: Made) {
  return service.request('/v1/export/run', { body: { project_automation_id: id } })
}

/** Why it fails. */
function runFails({ id }: Made): Promise<string> {
  return failedExport(service, id)
}

async function stateOf({ id }: Made): Promise<AnyJson> {
  return (await service.request(`/v1/export/${id}`)).json
}

const idsOf = (folder: string) =>
  exportedRows(folder)
    .map(({ id }) => id)
    .sort()

test('each record is in one file; what has changed, or came late, is in the next', async () => {
  const project = await service.project('each once')
  await service.insert('project_logs', project, [{ id: 'a', input: 1 }, { id: 'b' }, { id: 'c' }])
  await service.insert('project_logs', project, [{ id: 'c', _object_delete: true }])
  const exported = await makeExport(project)
  await run(exported)
  expect(idsOf(exported.folder)).toEqual(['a', 'b'])
  expect(await run(exported)).toMatchObject({ files: 0, rows: 0 })
  await service.insert('project_logs', project, [
    { id: 'a', input: 2, _is_merge: true },
    { id: 'late', created: '2020-01-01T00:00:00Z' },
    { id: 'b', _object_delete: true },
  ])
  expect(await run(exported)).toMatchObject({ files: 1, rows: 2 })
  expect(idsOf(exported.folder)).toEqual(['a', 'a', 'b', 'late'])
  const [first, second] = exportedRanges(exported.folder)
  expect(first!.rows.find(({ id }) => id === 'a')).toMatchObject({ input: 1 })
  expect(second!.rows.find(({ id }) => id === 'a')).toMatchObject({ input: 2 })
  const day = new Date().toISOString().slice(0, 10)
  expect(second!.file).toMatch(new RegExp(`^date=${day}/\\d{19}-\\d{19}-[0-9a-f]{8}\\.jsonl\\.gz$`))
  expect(await stateOf(exported)).toMatchObject({
    status: 'waiting',
    files: 2,
    rows: 4,
    error: null,
    last: { files: 1, rows: 2 },
  })
  const trail = await service.request(`/v1/audit_trail?entry_id=${exported.id}`)
  expect(trail.json.objects![0]).toMatchObject({ after: { exported: { files: 1, rows: 2 } } })
})

test('a run is begun at once, and one is for all who have asked before it looks', async () => {
  const project = await service.project('at once')
  await service.insert('project_logs', project, [{ id: 'a' }])
  const exported = await makeExport(project)
  const asked = await Promise.all([begin(exported), begin(exported), begin(exported)])
  for (const { json } of asked) {
    expect(json.status).toMatch(/^(queued|running)$/)
    expect(json.last).toBeNull()
  }
  await run(exported)
  expect(await run(exported)).toMatchObject({ files: 0 })
  expect(await stateOf(exported)).toMatchObject({ files: 1, rows: 1, progress: null })
})

test('Parquet has the rows that a query gives', async () => {
  const project = await service.project('parquet')
  const events = Array.from({ length: 500 }, (_, i) => ({
    id: `r${i}`,
    input: { text: `words ${i}`, n: i },
    scores: { s: i / 500 },
    metadata: { at: i % 7 },
  }))
  const exported = await makeExport(project, { format: 'parquet', interval_seconds: 3600 })
  for (let i = 0; i < 500; i += 100) {
    await service.insert('project_logs', project, events.slice(i, i + 100))
    if (i % 200 === 0) await run(exported)
  }
  await run(exported)
  const [file] = filesIn(exported.folder).filter((path) => path.endsWith('.parquet'))
  expect(file).toMatch(/^date=[\d-]+\/hour=\d\d\//)
  const duckdb = await DuckDB.open(':memory:')
  const rows = await duckdb.rows(
    `SELECT id, input, _xact_id, date, hour FROM read_parquet('${exported.folder}/**/*.parquet') ORDER BY id`,
  )
  const { json } = await service.query(
    `select: id, input, _xact_id | from: project_logs('${project}') | sort: id`,
  )
  const asked = json.data as unknown as { id: string; input: object; _xact_id: string }[]
  expect(rows.map(({ id, _xact_id }) => [id, _xact_id])).toEqual(
    asked.map(({ id, _xact_id }) => [id, _xact_id]),
  )
  expect(rows.map(({ input }) => JSON.parse(String(input)))).toEqual(
    asked.map(({ input }) => input),
  )
})

test('traces are a row each, and again once a span was added', async () => {
  const project = await service.project('traces')
  const span = (id: string, root: string, tokens: number) => ({
    id,
    span_id: id,
    root_span_id: root,
    ...(id !== root && { span_parents: [root] }),
    span_attributes: { type: 'llm' },
    metrics: { total_tokens: tokens },
  })
  await service.insert('project_logs', project, [
    span('t1', 't1', 0),
    span('s1', 't1', 5),
    span('t2', 't2', 1),
  ])
  const exported = await makeExport(project, { export_definition: { type: 'log_traces' } })
  await run(exported)
  await service.insert('project_logs', project, [span('s2', 't1', 7)])
  await run(exported)
  const tokens = exportedRanges(exported.folder).map(({ rows }) =>
    rows.map(({ id, metrics }) => [id, (metrics as { total_tokens: number }).total_tokens]).sort(),
  )
  expect(tokens).toEqual([
    [
      ['t1', 5],
      ['t2', 1],
    ],
    [['t1', 12]],
  ])
})

test('the rows of a query: records one by one, and groups anew in each run that something was written before', async () => {
  const project = await service.project('queries')
  const other = await service.project('other')
  const query = (btql_query: string) => ({ export_definition: { type: 'btql_query', btql_query } })
  const records = await makeExport(
    project,
    query('select: id, scores.s as s | from: project_logs() | filter: scores.s < 0.5 | limit: 1'),
  )
  const groups = await makeExport(
    project,
    query(
      'dimensions: metadata.k as id | measures: count(1) as n | from: project_logs() | sort: id',
    ),
  )
  const event = (id: string, s: number) => ({ id, scores: { s }, metadata: { k: id[0] } })
  await service.insert('project_logs', project, [
    event('a1', 0.1),
    event('a2', 0.2),
    event('b1', 0.9),
  ])
  await run(records)
  await run(groups)
  await service.insert('project_logs', project, [event('b2', 0.3)])
  await service.insert('project_logs', other, [event('x', 0.3)])
  await run(records)
  await run(groups)
  expect(await run(groups)).toMatchObject({ files: 0 })
  const rowsOf = (folder: string) => exportedRanges(folder).map(({ rows }) => rows)
  expect(rowsOf(records.folder)).toEqual(
    [
      [
        { id: 'a2', s: 0.2 },
        { id: 'a1', s: 0.1 },
      ].sort(byId),
      [{ id: 'b2', s: 0.3 }],
    ].map((rows) => expect.arrayContaining(rows)),
  )
  expect(rowsOf(groups.folder)).toEqual([
    [
      { id: 'a', n: 2 },
      { id: 'b', n: 1 },
    ],
    [
      { id: 'a', n: 2 },
      { id: 'b', n: 2 },
    ],
  ])
})

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)

test('a file has about as many rows as batch_size says', async () => {
  const project = await service.project('batches')
  for (let i = 0; i < 10; i++) {
    await service.insert('project_logs', project, [{ id: `a${i}` }, { id: `b${i}` }])
  }
  const exported = await makeExport(project, { batch_size: 5, compression: 'none' })
  await run(exported)
  const ranges = exportedRanges(exported.folder)
  expect(ranges.map(({ rows }) => rows.length)).toEqual([4, 4, 4, 4, 4])
  expect(ranges[0]!.file).toMatch(/\.jsonl$/)
})

test('places are allowed by whoever runs the service, also where links lead', async () => {
  const project = await service.project('places')
  await service.insert('project_logs', project, [{ id: 'a' }])
  const outside = mkdtempSync(join(tmpdir(), 'assay-outside-'))
  mkdirSync(join(allowed, 'links'))
  symlinkSync(outside, join(allowed, 'links', 'out'))
  for (const export_path of [
    outside,
    `${allowed}-too`,
    join(allowed, 'links', 'out', 'deep'),
    's3://bucket/x',
  ]) {
    const why = await runFails(await makeExport(project, { export_path }))
    expect(why, export_path).toMatch(/--export-(folders|buckets)/)
  }
  expect(filesIn(outside)).toEqual([])
  for (const export_path of [
    'exports',
    `${allowed}/../x`,
    's3://',
    's3://Bucket/x',
    's3://bucket/a/../b',
    'http://127.0.0.1/x',
    `${allowed}/a\nb`,
  ]) {
    const config = {
      event_type: 'btql_export',
      export_definition: spans,
      export_path,
      format: 'jsonl',
      interval_seconds: 60,
      credentials: { type: 'service' },
    }
    const body = { project_id: project, name: export_path, config }
    const answer = await service.request('/v1/project_automation', { body })
    expect([export_path, answer.status]).toEqual([export_path, 400])
  }
  rmSync(outside, { recursive: true })
})

test('rows are read with the rights of who has saved the export last', async () => {
  const project = await service.project('mine')
  const secret = await service.project('secret')
  await service.insert('project_logs', secret, [{ id: 'hidden' }])
  const { json: invited } = await service.request('/v1/organization/members', {
    method: 'PATCH',
    body: { invite_users: { service_accounts: [{ name: 'exporter', token_name: 't' }] } },
  })
  const [account] = invited.added_users as unknown as { id: string; api_key: string }[]
  const { id: user_id, api_key: key } = account!
  for (const permission of ['read', 'update', 'create']) {
    const acl = { object_type: 'project', object_id: project, user_id, permission }
    expect((await service.request('/v1/acl', { body: acl })).status).toBe(200)
  }
  const query = `select: id | from: project_logs('${secret}')`
  const export_definition = { type: 'btql_query', btql_query: query }
  const exported = await makeExport(project, { export_definition })
  await run(exported)
  expect(idsOf(exported.folder)).toEqual(['hidden'])
  // Nobody has an owner's export write elsewhere, or read something else, with the owner's rights.
  const path = `/v1/project_automation/${exported.id}`
  const config = { event_type: 'btql_export', export_path: join(allowed, 'theirs') }
  const full = { ...(await service.request(path)).json.config, ...config }
  const patched = await service.request(path, { method: 'PATCH', body: { config: full }, key })
  expect(patched.json).toMatchObject({ user_id })
  await service.insert('project_logs', secret, [{ id: 'hidden too' }])
  await runFails(exported)
  const own = await makeExport(project, {}, key)
  await service.insert('project_logs', project, [{ id: 'a' }])
  await run(own)
  expect(idsOf(own.folder)).toEqual(['a'])
  const remove = { remove_users: { ids: [user_id] } }
  await service.request('/v1/organization/members', { method: 'PATCH', body: remove })
  expect(await runFails(own)).toMatch(/./)
})

test('a rewind takes away the files of after a moment, and writes what they had again', async () => {
  const project = await service.project('rewind')
  const exported = await makeExport(project)
  for (const id of ['a', 'b', 'c']) {
    await service.insert('project_logs', project, [{ id }])
    await run(exported)
  }
  const [first, second] = exportedRanges(exported.folder)
  await service.insert('project_logs', project, [{ id: 'b', input: 'changed', _is_merge: true }])
  const version = second!.rows[0]!._xact_id
  const before = String(BigInt(version) - 1n)
  const answer = await service.request('/v1/export/rewind', {
    body: { project_automation_id: exported.id, version: before },
  })
  expect(answer.status, answer.text).toBe(200)
  await run(exported)
  const ranges = exportedRanges(exported.folder)
  expect(ranges[0]).toEqual(first)
  expect(idsOf(exported.folder)).toEqual(['a', 'b', 'c'])
  expect(exportedRows(exported.folder).find(({ id }) => id === 'b')).toMatchObject({
    input: 'changed',
  })
  expect(await stateOf(exported)).toMatchObject({ files: 2, rows: 3 })
  const all = await service.request('/v1/export/rewind', {
    body: { project_automation_id: exported.id },
  })
  expect(all.status).toBe(200)
  await run(exported)
  expect(exportedRanges(exported.folder).map(({ rows }) => rows.length)).toEqual([3])
  const trail = await service.request(`/v1/audit_trail?entry_id=${exported.id}`)
  expect(trail.text).toContain('rewound')
})

test('what is paused does nothing, and an automation that is no export is none', async () => {
  const project = await service.project('paused')
  const exported = await makeExport(project, { status: 'paused' })
  expect(await stateOf(exported)).toMatchObject({ status: 'paused', next_run: null })
  expect((await begin(exported)).json).toMatchObject({ status: 'paused', progress: null })
  expect(await stateOf(exported)).toMatchObject({ status: 'paused', last_run: null })
  const config = { event_type: 'retention', object_type: 'project_logs', retention_days: 9 }
  const { json } = await service.request('/v1/project_automation', {
    body: { project_id: project, name: 'no export', config },
  })
  expect((await service.request(`/v1/export/${String(json.id)}`)).status).toBe(400)
  const more = [{ format: 'csv' }, { compression: 'zip' }, { export_definition: { type: 'other' } }]
  for (const each of more) {
    const body = {
      project_id: project,
      name: 'x',
      config: {
        ...(await service.request(`/v1/project_automation/${exported.id}`)).json.config,
        ...each,
      },
    }
    expect((await service.request('/v1/project_automation', { body })).status).toBe(400)
  }
})

test('it runs by itself, goes on where it was after a restart, and finds its place by its manifests', async () => {
  const project = await service.project('by itself')
  const exported = await makeExport(project, { interval_seconds: 1 })
  await service.insert('project_logs', project, [{ id: 'a' }])
  await expect
    .poll(() => filesIn(allowed).filter((path) => path.includes(exported.id.slice(0, 8))).length)
    .toBeGreaterThan(1)
  service = await service.restart()
  await service.insert('project_logs', project, [{ id: 'b' }])
  await expect.poll(() => idsOf(exported.folder)).toEqual(['a', 'b'])
  const metrics = async () => (await service.fetch('/metrics')).text()
  await expect.poll(metrics).toMatch(/assay_scheduled_export_rows_total [1-9]/)
  const { directory } = service
  await service.halt()
  rmSync(join(directory, 'exports'), { recursive: true })
  service = await RunningService.over(directory, { ASSAY_EXPORT_FOLDERS: allowed })
  await service.insert('project_logs', project, [{ id: 'c' }])
  await expect.poll(() => idsOf(exported.folder)).toEqual(['a', 'b', 'c'])
  await service.request(`/v1/project_automation/${exported.id}`, { method: 'DELETE' })
  await expect
    .poll(() => filesIn(service.directory).filter((path) => path === `exports/${exported.id}.json`))
    .toEqual([])
})

interface Killed {
  readonly when: string
  readonly file: boolean
  readonly manifest: boolean
  readonly part?: true
}

const kills: readonly Killed[] = [
  { when: 'before the file', file: false, manifest: false },
  { when: 'while the file was written', file: false, manifest: false, part: true },
  { when: 'after the file', file: true, manifest: false },
  { when: 'after the manifest', file: true, manifest: true },
]

/** Takes back all that the export has done after a moment of its second range. */
function takeBack({ id, folder }: Made, directory: string, left: Killed) {
  const ranges = exportedRanges(folder)
  const { after, first, through, file } = ranges[1]!
  const manifests = filesIn(folder).filter((path) => path.startsWith('_manifests/'))
  const gone = [manifests[2]!, ranges[2]!.file!]
  if (!left.manifest) gone.push(manifests[1]!)
  if (!left.file) gone.push(file!)
  for (const path of gone) rmSync(join(folder, path))
  if (left.part) writeFileSync(join(folder, `${file}.x.part`), 'half of')
  const path = join(directory, 'exports', `${id}.json`)
  const state = JSON.parse(readFileSync(path, 'utf8')) as object
  const begun = { after, first, through, path: folder, file }
  writeFileSync(path, JSON.stringify({ ...state, through: after, begun, files: 1, rows: 1 }))
  return ranges.slice(0, 2)
}

test('a range that a kill has ended is written again under the same name, or as it is wanted now', async () => {
  const exports: Made[] = []
  for (const { when } of kills) {
    const project = await service.project(`killed ${when}`)
    const exported = await makeExport(project, { compression: 'none' })
    for (const id of ['a', 'b', 'c']) {
      await service.insert('project_logs', project, [{ id }])
      await run(exported)
    }
    exports.push(exported)
  }
  const changed = exports[3]!
  const automation = `/v1/project_automation/${changed.id}`
  const change = async (more: object) => {
    const { json } = await service.request(automation)
    const body = { config: { ...json.config, ...more } }
    expect((await service.request(automation, { method: 'PATCH', body })).status).toBe(200)
  }
  await change({ status: 'paused' })
  const { directory } = service
  await service.halt()
  const before = exports.map((each, i) => takeBack(each, directory, kills[i]!))
  service = await RunningService.over(directory, { ASSAY_EXPORT_FOLDERS: allowed })
  await change({ status: 'active', compression: 'gzip' })
  for (const [i, exported] of exports.entries()) {
    await run(exported)
    const ranges = exportedRanges(exported.folder)
    if (exported !== changed) expect(ranges.slice(0, 2)).toEqual(before[i])
    else expect(ranges[1]!.file).toBe(ranges[1]!.file!.replace(/(\.gz)?$/, '.gz'))
    expect(idsOf(exported.folder), kills[i]!.when).toEqual(['a', 'b', 'c'])
    expect(await stateOf(exported)).toMatchObject({ rows: 3 })
  }
})

test.skipIf(process.getuid?.() === 0)(
  'a folder that cannot be written is told of, and tried again',
  async () => {
    const project = await service.project('read-only')
    await service.insert('project_logs', project, [{ id: 'a' }])
    const exported = await makeExport(project)
    mkdirSync(exported.folder, { recursive: true })
    chmodSync(exported.folder, 0o500)
    expect(await runFails(exported)).toContain(exported.folder)
    chmodSync(exported.folder, 0o700)
    await run(exported)
    expect(idsOf(exported.folder)).toEqual(['a'])
  },
)

test('without a place that is allowed nothing runs, and the state says so', async () => {
  const closed = await RunningService.start()
  try {
    const project_id = await closed.project('p')
    const config = {
      event_type: 'btql_export',
      export_definition: spans,
      export_path: 's3://bucket/path',
      format: 'parquet',
      interval_seconds: 3600,
      credentials: { type: 'aws_iam', role_arn: 'arn:aws:iam::1:role/x', external_id: 'e' },
    }
    const body = { project_id, name: 'n', config }
    const { json } = await closed.request('/v1/project_automation', { body })
    const { json: state } = await closed.request(`/v1/export/${String(json.id)}`)
    expect(state).toMatchObject({ status: 'off', next_run: null, last_run: null })
    const asked = { body: { project_automation_id: json.id } }
    const answer = await closed.request('/v1/export/run', asked)
    expect(answer.json.error?.hint).toContain('--export-folders')
  } finally {
    await closed.stop()
  }
})
