/** What the certificate of a deleted person says of files that scheduled exports have written. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runExport } from '../support/carry-out.ts'
import { exportedRows, filesIn } from '../support/export-files.ts'
import { RunningService } from '../support/running-service.ts'

const allowed = mkdtempSync(join(tmpdir(), 'assay-copies-'))
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

/** Daily, so that none runs by itself but the first time. */
async function makeExport(project_id: string, more: object = {}): Promise<Made> {
  const folder = join(allowed, `e${made++}`)
  const config = {
    event_type: 'btql_export',
    export_definition: { type: 'log_spans' },
    export_path: folder,
    format: 'jsonl',
    compression: 'none',
    interval_seconds: 86_400,
    credentials: { type: 'service' },
    ...more,
  }
  const answer = await service.request('/v1/project_automation', {
    body: { project_id, name: `export ${made}`, config },
  })
  expect(answer.status, answer.text).toBe(200)
  return { id: String(answer.json.id), folder }
}

function run({ id }: Made): Promise<unknown> {
  return runExport(service, id)
}

test('the certificate of a deleted person names the files that still have them, and no other', async () => {
  const project = await service.project('person')
  const user = 'erika-9f8e7d6c'
  const spansExport = await makeExport(project)
  const tracesExport = await makeExport(project, { export_definition: { type: 'log_traces' } })
  const after = async (rows: readonly object[]) => {
    expect((await service.insert('project_logs', project, rows)).status).toBe(200)
    await run(spansExport)
    await run(tracesExport)
  }
  await after([{ id: 'before', input: 'nobody' }])
  await after([{ id: 'a', metadata: { user_id: user } }, { id: 'beside' }])
  await after([{ id: 'between', input: 'nobody' }])
  await after([{ id: 'a', _is_merge: true, output: 'more' }])
  await after([{ id: 'later', input: 'nobody' }])
  const body = { project_id: project, user_ids: [user] }
  const dry = await service.request('/v1/delete_person', { body: { ...body, dry_run: true } })
  const { json, text } = await service.request('/v1/delete_person', { body })
  const copies = json.copies as unknown as {
    readonly exports: readonly { readonly automation_id: string; readonly files: string[] }[]
    readonly last_backup: string | null
  }
  expect(dry.json.copies, text).toEqual(copies)
  expect(copies.last_backup).toBeNull()
  const named = (made: Made) =>
    copies.exports.find(({ automation_id }) => automation_id === made.id)!.files
  // What a search of the raw files finds is what the certificate names.
  const found = filesIn(spansExport.folder).filter((path) => {
    return readFileSync(join(spansExport.folder, path)).includes(user)
  })
  expect(named(spansExport).toSorted()).toEqual(found.toSorted())
  expect(found.length).toBe(2)
  // Traces may be shown again in each later file.
  expect(named(tracesExport).length).toBe(4)
  expect(copies.exports.length).toBe(2)
  // What is written from now on does not have them, also in place of what was.
  const rewind = { project_automation_id: spansExport.id }
  await service.request('/v1/export/rewind', { body: rewind })
  await run(spansExport)
  const ids = exportedRows(spansExport.folder).map(({ id }) => id)
  expect(ids.sort()).toEqual(['before', 'beside', 'between', 'later'])
})

test('an export whose place cannot be read is named in the certificate with the reason', async () => {
  const project = await service.project('person elsewhere')
  const exported = await makeExport(project)
  await service.insert('project_logs', project, [{ id: 'a', metadata: { user_id: 'u-elsewhere' } }])
  await run(exported)
  rmSync(exported.folder, { recursive: true })
  symlinkSync('/etc', exported.folder)
  const body = { project_id: project, user_ids: ['u-elsewhere'] }
  const { json, text } = await service.request('/v1/delete_person', { body })
  expect(json, text).toMatchObject({ records: 1 })
  expect(json.copies).toMatchObject({
    exports: [
      {
        automation_id: exported.id,
        files: [],
        error: expect.stringContaining('no export may be written'),
      },
    ],
  })
  rmSync(exported.folder)
})
