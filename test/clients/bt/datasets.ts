/** Datasets, their snapshots, and pipelines that make records of traces. */
import { expect, test } from 'vitest'
import type { AnyJson } from '../../support/running-service.ts'
import type { Session, Suite } from './session.ts'

const here = ['-p', 'app']

export function datasetTests({ session }: Suite): void {
  test('a dataset is made of lines, added to, changed, seen and removed', async () => {
    const { bt, service, project } = session()
    const rows = [
      { id: 'a', input: { text: 'hi' }, expected: 'hello' },
      { id: 'b', input: { text: 'bye' }, metadata: { kept: true }, tags: ['t'] },
    ]
    bt.write('rows.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'))
    const make = ['datasets', 'create', 'cases', '--description', 'd', '--file', 'rows.jsonl']
    expect(await bt.ok([...make, ...here])).toContain("Created 'cases' with 2 records")
    const twice = await bt.run([...make, ...here])
    expect(twice.told).toContain('already exists')

    const more = JSON.stringify([
      { id: 'b', input: { text: 'see you' } },
      { id: 'c', input: 3 },
    ])
    await bt.ok(['datasets', 'update', 'cases', '--rows', more, ...here])
    const input = '{"metadata":{"key":"d"},"input":4}'
    await bt.ok(['datasets', 'add', 'cases', '--id-field', 'metadata.key', ...here], { input })
    expect(await records(session(), 'cases')).toEqual([
      { id: 'a', input: { text: 'hi' }, expected: 'hello', metadata: null, tags: null },
      {
        id: 'b',
        input: { text: 'see you' },
        expected: null,
        metadata: { kept: true },
        tags: ['t'],
      },
      { id: 'c', input: 3, expected: null, metadata: null, tags: null },
      { id: 'd', input: 4, expected: null, metadata: { key: 'd' }, tags: null },
    ])

    expect(await bt.ok(['datasets', 'list', ...here])).toMatch(/cases +d +2/)
    const seen = await bt.ok(['datasets', 'view', 'cases', ...here])
    expect(seen).toContain('Rows: 4')
    expect(seen).toContain(`${service.url}/app/default/p/app/datasets/cases`)
    const full = await bt.json(['datasets', 'view', 'cases', '--full', '--all-rows', ...here])
    expect(full.dataset).toMatchObject({ name: 'cases', project_id: project })
    expect(full.rows).toHaveLength(4)
    const two = await bt.json(['datasets', 'view', 'cases', '--limit', '2', ...here])
    expect(two.rows).toHaveLength(2)
    await bt.ok(['datasets', 'delete', 'cases', '--force', ...here])
    expect(await bt.ok(['datasets', 'list', ...here])).toContain('0 datasets found')
  })

  test('a dataset goes back to a snapshot', async () => {
    const { bt } = session()
    const create = ['datasets', 'create', 'restored', '--rows', '[{"id":"a","input":1}]']
    await bt.ok([...create, ...here])
    const snapshots = (action: string, ...more: string[]) =>
      bt.ok(['datasets', 'snapshots', action, 'restored', ...more, ...here])
    expect(await snapshots('create', 'first')).toContain("Created snapshot 'first'")
    const change = '[{"id":"a","input":2},{"id":"b","input":3}]'
    await bt.ok(['datasets', 'refresh', 'restored', '--rows', change, ...here])
    expect(await snapshots('list')).toMatch(/first +- +1000\d+/)
    const preview = await snapshots('restore', '--name', 'first')
    expect(preview).toMatch(/Rows to restore: 1\s+Rows to delete: 1/)
    expect(await records(session(), 'restored')).toHaveLength(2)
    expect(await snapshots('restore', '--name', 'first', '--force')).toContain(
      '1 restored, 1 deleted',
    )
    expect(await records(session(), 'restored')).toMatchObject([{ id: 'a', input: 1 }])
    await snapshots('delete', 'first', '--force')
    expect(await snapshots('list')).toContain('0 snapshots')
  })

  test('a pipeline makes records of spans, at once or stage by stage', async () => {
    const { bt, service } = session()
    const source = await service.project('piped')
    const calls = ['x', 'y'].map((id) => ({
      id,
      span_id: id,
      root_span_id: id,
      input: `in ${id}`,
      output: `out ${id}`,
      span_attributes: { type: 'llm' },
    }))
    await service.insert('project_logs', source, [...calls, { id: 'z', input: 'no call' }])
    bt.write('pipe.ts', pipeline)
    await bt.ok(['datasets', 'pipeline', 'run', 'pipe.ts'])
    const made = [
      { id: 'x', input: 'in x', expected: 'out x', metadata: null, tags: null },
      { id: 'y', input: 'in y', expected: 'out y', metadata: null, tags: null },
    ]
    expect(await records(session(), 'from-spans')).toEqual(made)
    const { json } = await service.query(
      `select: origin | from: dataset('${await datasetId(session(), 'from-spans')}') | filter: id = 'x'`,
    )
    const origin = { object_type: 'project_logs', object_id: source, id: 'x' }
    expect(json.data).toMatchObject([{ origin }])

    const target = ['--target-dataset', 'by-stages']
    const pulled = await bt.json(['datasets', 'pipeline', 'pull', 'pipe.ts'])
    expect(pulled).toMatchObject({ refs: 2, scope: 'span' })
    const transformed = await bt.json(['datasets', 'pipeline', 'transform', 'pipe.ts'])
    expect(transformed).toMatchObject({ candidates: 2, rows: 2 })
    const pushed = await bt.json(['datasets', 'pipeline', 'push', 'pipe.ts', ...target])
    expect(pushed).toMatchObject({ rows_uploaded: 2, status: 'completed' })
    expect(await records(session(), 'by-stages')).toEqual(made)
  })

  test('a pipeline makes records with attachments of whole traces', async () => {
    const { bt } = session()
    bt.write('traces.ts', tracePipeline)
    await bt.ok(['datasets', 'pipeline', 'run', 'traces.ts', '--root-span-id', 'x'])
    const [made] = (await records(session(), 'from-traces')) as unknown as [AnyJson]
    expect(made.expected).toEqual([
      { role: 'user', content: 'in x' },
      { role: 'assistant', content: 'out x' },
    ])
    expect(await attached(session(), made.input!.spans!)).toEqual(['out x'])
  })
}

const tracePipeline = `
import { DatasetPipeline, JSONAttachment } from 'braintrust'
DatasetPipeline({
  source: { projectName: 'piped', scope: 'trace' },
  target: { projectName: 'app', datasetName: 'from-traces' },
  transform: async ({ trace }) => ({
    input: { spans: new JSONAttachment((await trace.getSpans()).map(({ output }) => output)) },
    expected: await trace.getThread(),
  }),
})
`

const pipeline = `
import { DatasetPipeline } from 'braintrust'
DatasetPipeline({
  source: { projectName: 'piped', filter: "span_attributes.type = 'llm'" },
  target: { projectName: 'app', datasetName: 'from-spans' },
  transform: ({ input, output }) => ({ input, expected: output }),
})
`

/** What an attachment of a record holds. */
async function attached({ service }: Session, reference: AnyJson): Promise<AnyJson> {
  const query = new URLSearchParams(Object.entries(reference) as unknown as [string, string][])
  const { json } = await service.request(`/attachment?${query}`)
  return (await (await fetch(String(json.downloadUrl))).json()) as AnyJson
}

async function datasetId({ service, project }: Session, name: string): Promise<string> {
  const { json } = await service.request(`/v1/dataset?project_id=${project}&dataset_name=${name}`)
  return String(json.objects?.[0]?.id)
}

async function records(session: Session, name: string): Promise<AnyJson> {
  const id = await datasetId(session, name)
  const select = 'id, input, expected, metadata, tags'
  const { json } = await session.service.query(
    `select: ${select} | from: dataset('${id}') | sort: id`,
  )
  return json.data!
}
