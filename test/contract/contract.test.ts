import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'
import {
  bodies,
  type Entries,
  leftOut,
  makeEntries,
  requiredQuery,
  slips,
  statuses,
} from './calls.ts'
import {
  documentIsThere,
  documentSchemas,
  listedOperations,
  missingNote,
  publishedOperations,
} from './published-document.ts'

const operations = publishedOperations()
const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const leftOutPaths = new Set(Array.from(leftOut.keys(), (key) => key.slice(key.indexOf('/'))))

/** What the service serves of the document. */
const served = operations.filter(({ method, path }) => {
  if (method === 'OPTIONS') return !leftOutPaths.has(path) && !slips.includes(path)
  return !leftOut.has(`${method} ${path}`)
})

let service: RunningService
let entries: Entries
beforeAll(async () => {
  service = await RunningService.start()
  entries = await makeEntries(service)
}, 120_000)
afterAll(() => service.stop())

function call(method: string, path: string) {
  const suffix = method === 'DELETE' ? '-2' : ''
  const filled = path.replaceAll(/\{(\w+)_id\}/g, (_, name: string) => {
    const id = entries[`${name}${suffix}`]
    if (id === undefined) throw new Error(`there is no ${name}${suffix}`)
    return id
  })
  const query = method === 'GET' ? requiredQuery(path, entries) : ''
  const body = bodies(entries).get(`${method} ${path}`)
  const needsBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  if (needsBody && body === undefined) throw new Error(`there is no body for ${method} ${path}`)
  return service.request(`${filled}?${query}`, { method, ...(body && { body }) })
}

if (!documentIsThere) console.warn(missingNote)

describe(`the published document (${documentIsThere ? 'is there' : missingNote})`, () => {
  test.runIf(documentIsThere)('has the operations that are listed here', () => {
    expect([...documentSchemas().keys()]).toEqual(listedOperations())
  })

  test('has 218 operations, of which 204 are served and the rest is left out on purpose', () => {
    expect(operations).toHaveLength(218)
    expect(served).toHaveLength(204)
    const page = readFileSync(new URL('../../src/docs/http.md', import.meta.url), 'utf8')
    expect(page).toContain("Of the document's 218 operations 204 are served")
  })

  // Removals come last, and what belongs to something before that, as the document has them after it.
  const ofJson = served.filter(({ method }) => method !== 'OPTIONS')
  const removals = ofJson.filter(({ method }) => method === 'DELETE')
  const called = [...ofJson.filter((one) => !removals.includes(one)), ...removals.toReversed()]

  test.each(called.map((operation) => [keyOf(operation), operation] as const))(
    '%s answers as it says',
    async (key, { method, path, isValid }) => {
      const { status, text, json } = await call(method, path)
      expect(status, text).toBe(statuses.get(key) ?? 200)
      if (status !== 200 || !isValid) return
      isValid(json)
      expect(isValid.errors ?? [], text).toEqual([])
    },
  )

  test('what is left out says that it is', async () => {
    for (const key of leftOut.keys()) {
      const path = key.slice(key.indexOf('/')).replace('{path+}', 'models')
      const { status, json } = await service.request(path, { body: {} })
      expect([status, json.error?.code]).toEqual([501, 'REQUEST_UNSUPPORTED'])
    }
  })

  test('every served path answers OPTIONS with its methods', async () => {
    for (const { method, path } of served) {
      if (method !== 'OPTIONS') continue
      const id = '00000000-0000-4000-8000-000000000000'
      const url = path.replaceAll(/\{\w+\}/g, id)
      const { status, headers } = await service.request(url, { method: 'OPTIONS', key: null })
      expect(status).toBeLessThan(300)
      const allowed = headers.get('access-control-allow-methods')
      for (const other of served) {
        if (other.path === path) expect(allowed).toContain(other.method)
      }
    }
  })
})
