/** One request for each way in which a service writes, and all that can be seen of what it has written. */
import { randomBytes } from 'node:crypto'

export interface WriteAnswer {
  readonly status: number
  readonly text: string
}

/** Sends a request with the owner's key unless headers say otherwise. */
export type Ask = (
  path: string,
  options?: { method?: string; body?: object | string; headers?: Record<string, string> },
) => Promise<WriteAnswer>

export interface Written {
  readonly project: string
  readonly experiment: string
}

/** What is written is found by its name; each is so long that no room within a file is left for it. */
export function everyWrite(ask: Ask, key: string, { project, experiment }: Written) {
  const long = () => randomBytes(70_000).toString('base64')
  const json = (path: string, body: object, method?: string) =>
    ask(path, { body, ...(method && { method }) })
  const members = (body: object) => json('/v1/organization/members', body, 'PATCH')
  return {
    'rows of an experiment': (id: string) =>
      json(`/v1/experiment/${experiment}/insert`, { events: [{ id, input: long() }] }),
    'rows of any object': (id: string) =>
      json('/logs3', { rows: [{ id, project_id: project, log_id: 'g', input: long() }] }),
    'a project': (name: string) => json('/v1/project', { name, description: long() }),
    'a dataset': (name: string) =>
      json('/v1/dataset', { project_id: project, name, description: long() }),
    'a change of a project': (text: string) =>
      json(`/v1/project/${project}`, { description: `${text} ${long()}` }, 'PATCH'),
    'a view': (name: string) =>
      json('/v1/view', {
        object_type: 'project',
        object_id: project,
        view_type: 'logs',
        name,
        view_data: { custom_charts: long() },
      }),
    'a prompt': (name: string) =>
      json('/v1/prompt', { project_id: project, name, slug: name, description: long() }),
    'a key': (name: string) => json('/v1/api_key', { name }),
    'a session': () => ask('/session', { body: { api_key: key }, headers: { authorization: '' } }),
    'a member': (name: string) => members({ invite_users: { emails: [`${name}@example.com`] } }),
    'an async query': () =>
      json('/btql/async', { query: `select: id | from: experiment('${experiment}')` }),
    'an announced file': (key: string) => json('/attachment', { key }),
    spans: (name: string) =>
      ask('/otel/v1/traces', {
        body: spanOf(name, long()),
        headers: { 'x-bt-parent': `project_id:${project}`, 'content-type': 'application/json' },
      }),
  }
}

/** All of it as text, without what is only noted of keys. */
export async function everythingSeen(ask: Ask, { project, experiment }: Written): Promise<string> {
  const queries = [`experiment('${experiment}')`, `project_logs('${project}')`].map((from) =>
    ask('/btql', {
      body: { query: `select: id, span_attributes.name | from: ${from} | sort: id` },
    }),
  )
  const lists = [
    '/v1/project',
    '/v1/dataset',
    `/v1/view?object_type=project&object_id=${project}`,
    '/v1/prompt',
    '/v1/api_key',
    '/v1/user',
    '/v1/audit_trail',
  ].map((path) => ask(path))
  const answers = await Promise.all([...queries, ...lists])
  for (const { status, text } of answers) if (status !== 200) throw new Error(text)
  const seen = answers.map(({ text }) => text).join('\n')
  return seen
    .replace(/"used":("[^"]*"|null)/g, '')
    .replace(/"(freshness_state|realtime_state)":\{[^}]*\}/g, '')
}

function spanOf(name: string, text: string): object {
  const span = {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name,
    startTimeUnixNano: '1544712660000000000',
    endTimeUnixNano: '1544712661000000000',
    attributes: [{ key: 'text', value: { stringValue: text } }],
  }
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }
}
