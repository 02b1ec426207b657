// Asks a running demo over HTTP, with the address and the key of the curl line that it printed: its
// own records can be counted, and a new record can be read back.
// Usage: node .ci/smoke.mjs FILE, where FILE holds what the demo printed.
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'

const log = readFileSync(process.argv[2], 'utf8')
const [, url, key] = /curl (http\S+)\/btql -H 'Authorization: Bearer ([^']+)'/.exec(log) ?? []
assert.ok(url && key, 'the demo printed no curl line')

async function post(path, body) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  assert.equal(response.status, 200, `POST ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

const health = await fetch(`${url}/healthz`)
assert.equal(health.status, 200, `/healthz answered ${health.status}`)

const source = /project_logs\('[^']+'\)/.exec(log)?.[0]
assert.ok(source, 'the demo printed no query of its logs')
const query = `from: ${source} | measures: count(1) as rows`
const { data } = await post('/btql', { query, fmt: 'json' })
console.log(`${query}\n${JSON.stringify(data)}`)
assert.ok(data[0].rows >= 10_000, 'the demo has too few records')

const { id: project } = await post('/v1/project', { name: 'smoke' })
const event = { id: 'smoke-1', input: 'is anyone there?', scores: { answered: 1 } }
await post(`/v1/project_logs/${project}/insert`, { events: [event] })
const answer = await post('/btql', {
  query: `from: project_logs('${project}') | select: id, input, scores.answered`,
})
assert.deepEqual(answer.data, [{ id: 'smoke-1', input: event.input, answered: 1 }])
console.log('the demo counts its records and returns a new one')
