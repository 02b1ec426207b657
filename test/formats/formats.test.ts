/**
 * Each build opens what older ones have written: data directories of each format (`make.mjs` made them, by the builds of
 * their time), and the answers of those builds, with means as they are rounded now.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type Service, startService } from '../../src/cli/service.ts'
import { readConfig } from '../../src/config.ts'
import { createLogger } from '../../src/server/logger.ts'
import { dataFormat } from '../../src/storage/directory/data-format.ts'

interface Kept {
  readonly key: string
  readonly answers: readonly { readonly query: string; readonly data: unknown }[]
}

const here = import.meta.dirname
const names = readdirSync(here).flatMap((name) => /^(.*)\.tar\.gz$/.exec(name)?.[1] ?? [])

let service: Service | undefined
let directory: string
afterEach(async () => {
  await service?.close()
  rmSync(directory, { recursive: true })
})

function start(key: string): Promise<Service> {
  const flags = { port: '0', otlpGrpcPort: 'off', dataDir: directory, workers: '1' }
  return startService(readConfig(flags, { ASSAY_BOOTSTRAP_KEY: key }), createLogger('silent'))
}

describe.each(names)('%s', (name) => {
  test('is read, written to and read again', async () => {
    directory = mkdtempSync(join(tmpdir(), 'assay-formats-'))
    execFileSync('tar', ['-C', directory, '-xzf', join(here, `${name}.tar.gz`)])
    const { key, answers } = JSON.parse(readFileSync(join(here, `${name}.json`), 'utf8')) as Kept
    const post = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${key}` }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(service!.url + path, init)
      return (await response.json()) as Record<string, unknown>
    }
    const answersNow = async () => {
      const now: unknown[] = []
      for (const { query } of answers) now.push((await post('/btql', { query })).data)
      return now
    }
    service = await start(key)
    expect(await answersNow()).toEqual(answers.map(({ data }) => data))
    const project = await post('/v1/project', { name: 'later' })
    const logs = `/v1/project_logs/${String(project.id)}`
    await post(`${logs}/insert`, { events: [{ id: 'later', input: 'x' }] })
    await service.close()

    service = await start(key)
    expect(await answersNow()).toEqual(answers.map(({ data }) => data))
    const query = `select: id, input | from: project_logs('${String(project.id)}')`
    expect((await post('/btql', { query })).data).toEqual([{ id: 'later', input: 'x' }])
    const format = JSON.parse(readFileSync(join(directory, 'format.json'), 'utf8')) as object
    expect(format).toEqual({ format: dataFormat })
  })
})

test('there are directories of each format', () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-formats-'))
  expect(names.sort()).toEqual([
    '0.1.0',
    'first-catalog',
    'first-segments',
    'one-file',
    'second-segments',
  ])
})
