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

test('the viewer is one page that asks for nothing from anywhere', async () => {
  const { text, headers, status } = await service.request('/docs', { key: null })
  expect(status).toBe(200)
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
  expect(text).toContain('/v1/project/{project_id}')
  expect(text).not.toMatch(/<script|src=|url\(|https?:/)
})
