import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

/** Every body that the API document describes is sent with one fault after the other. */

let service: RunningService
let operations: Operation[]
beforeAll(async () => {
  service = await RunningService.start()
  operations = await readOperations()
}, 60_000)
afterAll(() => service.stop())

interface Schema {
  readonly $ref?: string
  readonly type?: string | string[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly additionalProperties?: boolean
  readonly anyOf?: readonly Schema[]
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly fields: readonly (readonly [name: string, schema: Schema])[]
  readonly parameters: readonly string[]
}

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } }
  }
}

/** Those that take a body of fields, and those that take none. Records have a form of their own. */
async function readOperations(): Promise<Operation[]> {
  const { json } = await service.request('/openapi.json', { key: null })
  const { paths } = json as unknown as { paths: Record<string, Record<string, Described>> }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { requestBody, parameters = [] }]) => {
      const schema = requestBody?.content['application/json'].schema
      if (requestBody && recordPaths.test(path)) return []
      const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
      const fields = Object.entries(schema?.properties ?? {})
      return { method: method.toUpperCase(), path, fields, parameters: names }
    }),
  )
}

/** Their bodies are of records, of queries, or of what is not run here. */
const recordPaths = /insert|feedback|fetch|restore|btql|logs3|otel|invoke|session|search|attachment/

const someId = '00000000-0000-4000-8000-000000000000'

function send({ method, path }: Operation, body: string | object, query = '') {
  const url = `${path.replaceAll(/\{\w+\}/g, someId)}${query}`
  return service.request(url, { method, ...(method !== 'GET' && { body }) })
}

function typesOf({ type, anyOf, ...schema }: Schema): string[] {
  if (anyOf) return anyOf.flatMap(typesOf)
  if (schema.$ref !== undefined) return ['object']
  return type === undefined ? [] : [type].flat()
}

test('there are many such operations', () => {
  expect(operations.filter(({ fields }) => fields.length > 0).length).toBeGreaterThan(40)
})

test('a field that is not known is no fault: whatever else is wrong is told', async () => {
  for (const operation of operations) {
    if (operation.fields.length === 0) continue
    const { status, text } = await send(operation, { not_a_field: 1 })
    const which = `${operation.method} ${operation.path} ${text}`
    expect([200, 400, 403], which).toContain(status)
    expect(text, which).not.toContain('not_a_field is')
    expect(JSON.parse(text).error?.path ?? '', which).not.toContain('not_a_field')
  }
})

test('a value of the wrong type is refused, at its place', async () => {
  const samples: Record<string, unknown> = { string: 'x', number: 1.5, boolean: true, array: [] }
  for (const operation of operations) {
    for (const [name, schema] of operation.fields) {
      const types = typesOf(schema)
      if (types.length === 0) continue
      const wrong = Object.entries(samples).find(
        ([type]) => !types.includes(type) && !(type === 'number' && types.includes('integer')),
      )
      if (!wrong) continue
      const { status, json, text } = await send(operation, { [name]: wrong[1] })
      const which = `${operation.method} ${operation.path} ${name} ${text}`
      expect(status, which).toBe(400)
      expect(JSON.stringify(json.error), which).toContain(`"${name}`)
    }
  }
})

test('a text without end is refused, at its place', async () => {
  const long = 'x'.repeat(5 * 2 ** 20)
  for (const operation of operations) {
    const field = operation.fields.find(([, schema]) => typesOf(schema).includes('string'))
    if (!field) continue
    const { status, json } = await send(operation, { [field[0]]: long })
    expect(status, `${operation.method} ${operation.path}`).toBe(400)
    expect(JSON.stringify(json.error)).toContain(field[0])
  }
})

test('a parameter that is not known is no fault, and one that is no id is, and named', async () => {
  for (const operation of operations) {
    if (!operation.path.startsWith('/v1/') || operation.path.endsWith('/summarize')) continue
    if (operation.path.includes('/fetch') || operation.method !== 'GET') continue
    const { text } = await send(operation, '', '?not_a_parameter=1')
    expect(text, operation.path).not.toContain('not_a_parameter')
    for (const name of ['starting_after', 'ids']) {
      if (!operation.parameters.includes(name) || operation.path === '/v1/audit_trail') continue
      const faulty = await send(operation, '', `?${name}=x`)
      expect(faulty.status, `${operation.path} ${name}`).toBe(400)
      expect(JSON.stringify(faulty.json.error)).toContain(name)
    }
  }
})

test.each([
  ['nothing', ''],
  ['no JSON', '{"name":'],
  ['no object', '[]'],
  ['broken UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
  ['a nest without end', `{"metadata":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
])('%s is refused by every operation that takes a body', async (_, body) => {
  for (const operation of operations) {
    if (operation.fields.length === 0) continue
    const { status, text } = await send(operation, body)
    expect(status, `${operation.method} ${operation.path} ${text}`).toBe(400)
  }
})

test.each([
  ['a prototype', '{"__proto__":{"name":"x"},"constructor":{"name":"x"}}'],
  ['a byte of zero', '{"\\u0000":1}'],
])('%s for a name is a field that is not known, and gives nobody anything', async (_, body) => {
  for (const operation of operations) {
    if (operation.fields.length === 0) continue
    const { status, text } = await send(operation, body)
    expect([200, 400, 403], `${operation.method} ${operation.path} ${text}`).toContain(status)
  }
})

test('an id in a path that is none is refused, whatever it is', async () => {
  for (const { method, path } of operations) {
    if (!path.startsWith('/v1/') || !path.includes('{')) continue
    if (/fetch|insert|feedback|summarize|restore/.test(path)) continue
    for (const id of ['x', '%00', '..%2f..%2fetc', `${someId}'--`, '%F0%9F%92%A7']) {
      const url = path.replaceAll(/\{\w+\}/g, id)
      const body = method === 'GET' ? {} : { body: '{}' }
      const { status, json } = await service.request(url, { method, ...body })
      expect(status, `${method} ${url}`).toBe(400)
      expect(JSON.stringify(json.error)).toContain('_id')
    }
  }
})
