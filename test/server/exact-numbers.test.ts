/** Numbers come out of the service with the texts that they went in with, and no name of a member means anything. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
})
afterAll(() => service.stop())

const numbers =
  '"seed":9007199254740993,"big":12345678901234567890,"far":1e400,"price":1.10,"whole":1.0,"zero":-0'
const names =
  '"__proto__":{"a":1.0},"constructor":"McLaren","prototype":{"x":1},"toString":2,"hasOwnProperty":3'
const members = `${numbers},${names}`

async function send(path: string, body?: string, method?: string): Promise<string> {
  const { status, text } = await service.request(path, {
    ...(body !== undefined && { body }),
    ...(method !== undefined && { method }),
  })
  expect(status, text).toBe(200)
  return text
}

function idIn(text: string): string {
  return (JSON.parse(text) as { id: string }).id
}

let made = 0
const body = (more: string) => `{"project_id":"${project}","name":"n${made++}",${more}}`

test.each([
  ['experiment', '"metadata":{…}', members],
  ['dataset', '"metadata":{…}', members],
  ['agent', '"metadata":{…}', members],
  ['prompt', '"slug":"s","prompt_data":{"options":{"params":{…}}}', members],
  ['function', '"slug":"f","function_data":{"type":"code",…}', members],
  [
    'project_score',
    '"score_type":"categorical","categories":{…}',
    '"__proto__":1.10,"constructor":0.50,"a":1',
  ],
])('those of a new %s, in each answer, and after a restart', async (type, form, given) => {
  const hasAll = (answer: string) => {
    for (const member of given.split(',')) expect(answer).toContain(member)
  }
  const text = await send(`/v1/${type}`, body(form.replace('…', given)))
  hasAll(text)
  const path = `/v1/${type}/${idIn(text)}`
  hasAll(await send(path))
  hasAll(await send(`/v1/${type}?limit=10`))
  hasAll(await send(`/v1/${type}?ids=${idIn(text)}`))
  service = await service.restart()
  hasAll(await send(path))
})

test('PATCH merges deeply by any name, and keeps the texts of what it leaves and what it brings', async () => {
  const id = idIn(
    await send('/v1/experiment', body('"metadata":{"a":1.10,"constructor":{"x":1.0,"y":1},"n":1}')),
  )
  const text = await send(
    `/v1/experiment/${id}`,
    '{"metadata":{"constructor":{"y":2.0},"prototype":{"z":1e400},"__proto__":{"p":1},"n":1.0}}',
    'PATCH',
  )
  expect(text).toContain(
    '"metadata":{"a":1.10,"constructor":{"x":1.0,"y":2.0},"n":1.0,' +
      '"prototype":{"z":1e400},"__proto__":{"p":1}}',
  )
  const again = await send(
    `/v1/experiment/${id}`,
    '{"metadata":{"__proto__":{"q":1.0},"n":9007199254740993}}',
    'PATCH',
  )
  expect(again).toContain('"n":9007199254740993')
  expect(again).toContain('"__proto__":{"p":1,"q":1.0}')

  const trail = await service.request(`/v1/audit_trail?entry_id=${id}`)
  expect(trail.text).toContain('"n":1.0')
  expect(trail.text).toContain('"n":9007199254740993')
})

test('a change of nothing but the text of a number is a change', async () => {
  const id = idIn(await send('/v1/dataset', body('"metadata":{"n":9007199254740993}')))
  const text = await send(`/v1/dataset/${id}`, '{"metadata":{"n":9007199254740992}}', 'PATCH')
  expect(text).toContain('"n":9007199254740992')
  service = await service.restart()
  const read = await service.request(`/v1/dataset/${id}`)
  expect(read.text).toContain('"n":9007199254740992')
})

test('options of views, and fields that are numbers', async () => {
  const place = `"object_type":"project","object_id":"${project}"`
  const text = await send(
    '/v1/view',
    `{${place},"view_type":"logs","name":"v","options":{"chartHeight":300.0,` +
      '"columnSizing":{"constructor":1.10,"__proto__":2,"b":9007199254740993}},' +
      '"view_data":{"custom_charts":{"at":1e400}}}',
  )
  expect(text).toContain('"chartHeight":300.0')
  expect(text).toContain('"columnSizing":{"constructor":1.10,"__proto__":2,"b":9007199254740993}')
  expect(text).toContain('"custom_charts":{"at":1e400}')
  const refused = await service.request('/v1/view', {
    body: `{${place},"view_type":"logs","name":"w","options":{"columnSizing":{"__proto__":"x"}}}`,
  })
  expect(refused.status).toBe(400)
})

test('registering an experiment, and a dataset', async () => {
  const text = await send(
    '/api/experiment/register',
    `{"project_name":"p","experiment_name":"r","metadata":{${members}}}`,
  )
  expect(text).toContain(`"metadata":{${members}}`)
  const dataset = await send(
    '/api/dataset/register',
    `{"project_name":"p","dataset_name":"r","metadata":{${members}}}`,
  )
  expect(dataset).toContain(`"metadata":{${members}}`)
})

test('feedback and /v1/insert', async () => {
  const id = await service.create('experiment', project, 'rows')
  await send(
    '/v1/insert',
    `{"experiment":{"${id}":{"events":[{"id":"a","input":{${members}},"scores":{"constructor":1}}]}}}`,
  )
  await send(
    `/v1/experiment/${id}/feedback`,
    `{"feedback":[{"id":"a","expected":{${members}},"scores":{"__proto__":0.50},"comment":"c",` +
      '"metadata":{"n":1.10}}]}',
  )
  const { text } = await service.query(`select: * | from: experiment('${id}')`)
  expect(text).toContain(`"input":{${members}}`)
  expect(text).toContain(`"expected":{${members}}`)
  expect(text).toContain('"scores":{"constructor":1,"__proto__":0.50}')
  expect(text).toContain('"n":1.10')
  const summary = await service.request(`/v1/experiment/${id}/summarize?summarize_scores=true`)
  expect(summary.text).toContain('"constructor":{"name":"constructor","score":1')
  expect(summary.text).toContain('"__proto__":{"name":"__proto__","score":0.5')
  const fetched = await service.request(`/v1/experiment/${id}/fetch`, {
    method: 'POST',
    body: '{}',
  })
  expect(fetched.text).toContain(`"input":{${members}}`)
})

test('a dataset is restored to numbers that a double does not tell apart', async () => {
  const id = await service.create('dataset', project, 'restored')
  const insert = (input: string) =>
    send(`/v1/dataset/${id}/insert`, `{"events":[{"id":"a","input":${input}}]}`)
  await insert('1e400')
  const { json } = await service.query(`select: _xact_id | from: dataset('${id}')`)
  const [{ _xact_id: version }] = json.data as unknown as [{ _xact_id: string }]
  await insert('1e401')
  await send(`/v1/dataset/${id}/restore`, JSON.stringify({ version }))
  const { text } = await service.query(`select: input | from: dataset('${id}')`)
  expect(text).toContain('"input":1e400')
})

test('a query as JSON compares with all digits', async () => {
  const id = await service.create('experiment', project, 'compared')
  await send(
    `/v1/experiment/${id}/insert`,
    '{"events":[{"id":"a","input":9007199254740993},{"id":"b","input":9007199254740992}]}',
  )
  const answer = await send(
    '/btql',
    '{"query":{"select":[{"op":"ident","name":["id"]}],"from":{"op":"function","name":' +
      `{"op":"ident","name":["experiment"]},"args":[{"op":"literal","value":"${id}"}]},` +
      '"filter":{"op":"eq","left":{"op":"ident","name":["input"]},' +
      '"right":{"op":"literal","value":9007199254740993}}}}',
  )
  expect((JSON.parse(answer) as { data: unknown }).data).toEqual([{ id: 'a' }])
})

test('fields that this service does not know', async () => {
  const text = await send('/v1/dataset', body(`"novel":{${members}},"__proto__":1.0`))
  expect(text).toContain(`"novel":{${members}}`)
  expect(text).toContain('"__proto__":1.0')
  const id = idIn(text)
  const patched = await send(`/v1/dataset/${id}`, '{"novel":{"constructor":{"x":2.0}}}', 'PATCH')
  expect(patched).toContain('"constructor":{"x":2.0}')
  expect(patched).toContain(numbers)
  service = await service.restart()
  expect(await send(`/v1/dataset/${id}`)).toContain(numbers)
  const made = await send(
    '/v1/function',
    body(`"slug":"novel","function_data":{"type":"code"},"novel":{${numbers}},"constructor":1.0`),
  )
  const read = await send(`/v1/function/${idIn(made)}`)
  expect(read).toContain(numbers)
  expect(read).toContain('"constructor":1.0')
})
