import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

interface Document {
  readonly openapi: string
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: { readonly [name: string]: object } }
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: object
}

async function read(): Promise<Document> {
  const { json, status } = await service.request('/openapi.json', { key: null })
  expect(status).toBe(200)
  return json as unknown as Document
}

test('the API document has every route of /v1 and /btql, each under an id of its own', async () => {
  const { openapi, paths } = await read()
  expect(openapi).toBe('3.1.0')
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(Object.keys(paths['/v1/project/{project_id}']!)).toEqual(['get', 'patch', 'delete'])
  expect(paths['/btql']!.post).toBeDefined()
  const list = paths['/v1/experiment']!.get!.parameters!.map(({ name }) => name)
  expect(list).toEqual(expect.arrayContaining(['limit', 'starting_after', 'ids', 'project_name']))
})

test('every reference of the document leads somewhere', async () => {
  const document = await read()
  const references = [
    ...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g),
  ]
  expect(references.length).toBeGreaterThan(50)
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name!)
})

test('a null is a form of its own where it may stand in place of a value', async () => {
  const { components } = await read()
  const forms = (type: object) => ({ anyOf: [type, { type: 'null' }] })
  expect(components.schemas.Experiment).toMatchObject({
    properties: {
      metadata: forms({ $ref: '#/components/schemas/Fields' }),
      base_exp_id: forms({ type: 'string', format: 'uuid' }),
    },
  })
})

test('a path that is written out is no id to the routes beside it', async () => {
  const answer = await service.request('/v1/acl/list_org', { method: 'DELETE' })
  expect(answer.status).toBe(405)
  const options = await service.request('/v1/acl/list_org', { method: 'OPTIONS' })
  expect(options.headers.get('allow')).toBe('OPTIONS, GET')
})

test('what has no form that the document promises is refused', async () => {
  const { json: project } = await service.request('/v1/project', { body: { name: 'refusing' } })
  const body = { project_id: project.id, name: 'refusing' }
  const { json: experiment } = await service.request('/v1/experiment', { body })
  const path = `/v1/experiment/${experiment.id}`
  for (const wrong of [
    '/fetch?limit=',
    '/fetch?limit=1e1',
    '/fetch?version=x',
    '/summarize?summarize_scores=yes',
    '/summarize?summarize_scores=true&summarize_scores=true',
    '/summarize?comparison_experiment_id=x',
  ]) {
    expect((await service.request(path + wrong)).status, wrong).toBe(400)
  }
  expect((await service.request(`${path}/summarize?summarize_scores=True`)).status).toBe(200)
  expect((await service.request(`${path}/fetch?version=&limit=5`)).status).toBe(200)
})

test('people read it among the pages of the documentation', async () => {
  const { text, status } = await service.request('/docs/api', { key: null })
  expect(status).toBe(200)
  expect(text).toContain('/v1/project/{project_id}')
  expect(text).toContain('<a href="docs/api" aria-current="page">')
})
