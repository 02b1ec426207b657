/**
 * People with everything open that a service can have open for somebody: keys, sessions, live streams, exports,
 * links to files. Each thing knows what it depends on.
 */
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import { expect } from 'vitest'
import type { Answer, RunningService } from './running-service.ts'
import { EventReader, StreamClient } from './stream-client.ts'

/** Something that works as long as all that it depends on is there. */
export interface Open {
  readonly what: string
  readonly needs: readonly string[]
  /** Rejects or fails an expectation unless it works, and goes on working. */
  works(): Promise<void>
  /** Resolves once it has ended; fails an expectation if it works. */
  ended(): Promise<void>
  /** Whether it has ended when it should not have; at the end, what is open must come to its end. */
  finish?(): Promise<void>
}

export interface Removal {
  readonly what: string
  /** What is gone with it. */
  readonly takes: string
  remove(): Promise<Answer>
}

export interface RemovalWorld {
  readonly open: readonly Open[]
  readonly removals: readonly Removal[]
}

/** Rows that are more than what lies between a server and a reader that takes nothing. */
const rowCount = 200
const rowText = 'x'.repeat(100_000)

export async function makeRemovalWorld(service: RunningService): Promise<RemovalWorld> {
  const world: { open: Open[]; removals: Removal[] } = { open: [], removals: [] }
  const label = randomUUID().slice(0, 8)
  const ask = async (path: string, body?: object, options: object = {}) => {
    const answer = await service.request(path, { ...(body && { body }), ...options })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
    return answer.json
  }
  const members = (body: object) =>
    service.request('/v1/organization/members', { method: 'PATCH', body })
  const remove = (path: string) => service.request(path, { method: 'DELETE' })

  const projects: { id: string; experiment: string }[] = []
  for (const name of ['a', 'b']) {
    const id = await service.project(`${label}-${name}`)
    const experiment = await service.create('experiment', id, 'large')
    for (let from = 0; from < rowCount; from += 100) {
      const events = Array.from({ length: 100 }, (_, i) => ({
        id: `r${from + i}`,
        input: rowText,
      }))
      expect((await service.insert('experiment', experiment, events)).status).toBe(200)
    }
    projects.push({ id, experiment })
    world.removals.push({
      what: `project ${name}`,
      takes: `project ${name}`,
      remove: () => remove(`/v1/project/${id}`),
    })
  }

  for (const [i, way] of (['group', 'acl', 'role', 'group', 'acl', 'token'] as const).entries()) {
    const name = `${way} ${i}`
    const project = projects[i % 2]!
    const [inProject, grant] = [`project ${'ab'[i % 2]}`, `grant of ${name}`]
    const member = `member ${name}`
    const email = `m${i}-${label}@example.com`
    let user_id: string
    let key: string
    let keyPath: string
    if (way === 'token') {
      const invite_users = { service_accounts: [{ name, token_name: 't' }] }
      const { json } = await members({ invite_users })
      const [account] = json.added_users as unknown as { id: string; api_key: string }[]
      user_id = account!.id
      key = account!.api_key
      const { objects } = await ask('/v1/service_token')
      const tokens = objects as unknown as { id: string; service_account_id: string }[]
      keyPath = `/v1/service_token/${tokens.find((one) => one.service_account_id === user_id)!.id}`
      world.removals.push({
        what: member,
        takes: member,
        remove: () => members({ remove_users: { ids: [user_id] } }),
      })
    } else {
      await members({ invite_users: { emails: [email] } })
      const made = await ask(
        '/v1/api_key',
        { name: 'k' },
        { headers: { 'x-bt-impersonate-user': email } },
      )
      user_id = String(made.user_id)
      key = String(made.key)
      keyPath = `/v1/api_key/${String(made.id)}`
      world.removals.push({
        what: member,
        takes: member,
        remove: () => members({ remove_users: { emails: [email] } }),
      })
    }
    world.removals.push({
      what: `key of ${name}`,
      takes: `key of ${name}`,
      remove: () => remove(keyPath),
    })

    const on = { object_type: 'project', object_id: project.id }
    if (way === 'group') {
      const group = await ask('/v1/group', { name: `${label}-${i}`, member_users: [user_id] })
      await ask('/v1/acl', { ...on, group_id: group.id, permission: 'read' })
      world.removals.push({
        what: grant,
        takes: grant,
        remove: () => remove(`/v1/group/${String(group.id)}`),
      })
    } else if (way === 'role') {
      const role = await ask('/v1/role', {
        name: `${label}-${i}`,
        member_permissions: [{ permission: 'read' }],
      })
      await ask('/v1/acl', { ...on, user_id, role_id: role.id })
      world.removals.push({
        what: grant,
        takes: grant,
        remove: () => remove(`/v1/role/${String(role.id)}`),
      })
    } else {
      const acl = await ask('/v1/acl', { ...on, user_id, permission: 'read' })
      world.removals.push({
        what: grant,
        takes: grant,
        remove: () => remove(`/v1/acl/${String(acl.id)}`),
      })
    }

    const identity = [member, `key of ${name}`]
    const rights = [...identity, grant, inProject]
    const query = `select: id | from: experiment('${project.experiment}')`
    const status = async (path: string, options: object) =>
      (await service.request(path, options)).status
    const asked = (
      what: string,
      needs: readonly string[],
      path: string,
      options: object,
    ): Open => ({
      what: `${what} of ${name}`,
      needs,
      works: async () => expect(await status(path, options), `${what} of ${name}`).toBe(200),
      ended: async () =>
        expect([401, 403, 404], `${what} of ${name}`).toContain(await status(path, options)),
    })
    world.open.push(asked('key', identity, '/ping', { key }))
    world.open.push(
      asked('query', rights, '/btql', { key, body: { query: `${query} | limit: 1` } }),
    )

    const signedIn = await service.request('/session', { body: { api_key: key }, key: null })
    if (signedIn.status === 200) {
      const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
      const session = `session of ${name}`
      world.open.push(
        asked('session', [...identity, session], '/session', { key: null, headers: { cookie } }),
      )
      const token = String(signedIn.json.change_token)
      world.removals.push({
        what: session,
        takes: session,
        remove: () =>
          service.request('/session', {
            method: 'DELETE',
            key: null,
            headers: { cookie, 'x-assay-change-token': token },
          }),
      })
    }

    const socket = await StreamClient.open(service, { key })
    socket.send({ query: `${query} | limit: 1`, live: true })
    await socket.until('current')
    world.open.push({
      what: `live query of ${name}`,
      needs: rights,
      works: async () => expect(socket.socket.readyState, `live query of ${name}`).toBe(1),
      ended: async () => {
        expect((await socket.until('error')).error).toMatchObject({ code: /^ACCESS_/ })
      },
    })
    const events = new EventReader(
      await service.fetch('/btql/stream', {
        key,
        body: { query: `${query} | limit: 1`, live: true },
      }),
    )
    await events.until('current')
    world.open.push({
      what: `events of ${name}`,
      needs: rights,
      works: async () => undefined,
      ended: async () => {
        expect(JSON.stringify(await events.until('error'))).toContain('ACCESS_')
      },
      finish: () => events.cancel(),
    })

    const left = await ask(
      '/btql/export',
      { query: `select: * | from: experiment('${project.experiment}')`, fmt: 'csv' },
      { key },
    )
    world.open.push(await exportOf(service, String(left.path), key, `export of ${name}`, rights))
    world.open.push(asked('left export', rights, String(left.path), { key, method: 'HEAD' }))

    const file = randomUUID()
    const announced = await ask('/attachment', { key: file, content_type: 'text/plain' })
    const sent = await service.request(pathOf(announced.signedUrl), {
      method: 'PUT',
      body: 'text',
      key: null,
    })
    expect(sent.status).toBe(200)
    const reference = {
      type: 'braintrust_attachment',
      key: file,
      filename: 'f',
      content_type: 'text/plain',
    }
    await service.insert('experiment', project.experiment, [{ id: `file-${i}`, output: reference }])
    const got = await ask(`/attachment?key=${file}`, undefined, { key })
    world.open.push(asked('link', rights, pathOf(got.downloadUrl), { key: null }))
    const own = await ask('/attachment', { key: randomUUID(), content_type: 'text/plain' }, { key })
    const upload = { method: 'PUT', body: 'text', key: null }
    world.open.push({
      what: `upload of ${name}`,
      needs: identity,
      works: async () => undefined,
      ended: async () => expect([401, 403]).toContain(await status(pathOf(own.signedUrl), upload)),
    })
  }
  return world
}

/** An answer of which its reader takes nothing until it is asked for. */
async function exportOf(
  { url }: RunningService,
  path: string,
  key: string,
  what: string,
  needs: readonly string[],
): Promise<Open> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` }
    request(url + path, { headers }, resolve)
      .on('error', reject)
      .end()
  })
  response.pause()
  expect(response.statusCode, what).toBe(200)
  const read = async () => {
    let bytes = 0
    for await (const chunk of response) bytes += (chunk as Buffer).length
    return bytes
  }
  const all = rowCount * rowText.length
  return {
    what,
    needs,
    works: async () => undefined,
    ended: async () => {
      const outcome = await read().then(
        (bytes) => `all ${bytes} bytes`,
        () => 'broken off',
      )
      expect(outcome, what).toBe('broken off')
    },
    finish: async () => expect(await read(), what).toBeGreaterThan(all),
  }
}

function pathOf(url: unknown): string {
  const { pathname, search } = new URL(String(url))
  return pathname + search
}
