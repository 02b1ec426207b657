/** Backups of services that run in this process, over HTTP as `assay backup` takes them. */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BackupSource } from '../../src/backup/backup-source.ts'
import type { BackupStore } from '../../src/backup/backup-store.ts'
import { FolderStore } from '../../src/backup/folder-store.ts'
import { type Moment, parseMoment } from '../../src/backup/moment.ts'
import { restoreBackup } from '../../src/backup/restore-backup.ts'
import { ServiceSource } from '../../src/backup/service-source.ts'
import { type BackupOptions, type TakenBackup, takeBackup } from '../../src/backup/take-backup.ts'
import { Client } from '../../src/cli/client.ts'
import { RunningService, testKey } from './running-service.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

export function sourceOf(service: RunningService): ServiceSource {
  return new ServiceSource(new Client({ url: service.url, key: testKey }))
}

/** Into a folder, or wherever the store is. */
export function backUp(
  from: RunningService | BackupSource,
  to: string | BackupStore,
  options: Partial<BackupOptions> = {},
): Promise<TakenBackup> {
  const source = from instanceof RunningService ? sourceOf(from) : from
  const store = typeof to === 'string' ? new FolderStore(to) : to
  return takeBackup(store, source, {
    kind: 'backup',
    hasSecrets: true,
    isFull: false,
    onRead: async () => {},
    ...options,
  })
}

export interface RestoredService {
  readonly service: RunningService
  readonly restored: Awaited<ReturnType<typeof restoreBackup>>
  stop(): Promise<void>
}

/** @param to a transaction or a time; all that there is when not given */
export async function restoreFrom(
  from: string | BackupStore,
  to?: string,
  environment: Record<string, string> = {},
): Promise<RestoredService> {
  const store = typeof from === 'string' ? new FolderStore(from) : from
  const parent = await makeTemporaryDirectory('restored')
  const directory = join(parent, 'data')
  const moment: Moment = to === undefined ? 'last' : parseMoment(to)
  const restored = await restoreBackup(store, { directory, moment, onProgress: () => {} })
  const service = await RunningService.over(directory, environment)
  const stop = async () => {
    await service.stop()
    await rm(parent, { recursive: true, force: true })
  }
  return { service, restored, stop }
}

const listed = ['project', 'experiment', 'dataset', 'prompt', 'role', 'group', 'user']

/** All that a service answers: the catalog, and every object's records as they are now and at earlier versions. */
export async function allAnswers(
  service: RunningService,
  versions: readonly string[] = [],
): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  const objects: string[] = []
  for (const kind of listed) {
    const path = `/v1/${kind}`
    const { text, json } = await service.request(path)
    answers.set(path, text)
    const entries = (json.objects ?? []) as unknown as readonly { readonly id: string }[]
    for (const { id } of entries) {
      if (kind === 'project') objects.push(`project_logs('${id}')`, `project_prompts('${id}')`)
      else if (kind === 'experiment' || kind === 'dataset') objects.push(`${kind}('${id}')`)
    }
  }
  for (const object of objects) {
    for (const version of [undefined, ...versions]) {
      for (const query of [
        `select: * | from: ${object} | sort: id, _xact_id`,
        `select: * | from: ${object} | filter: id = 'r1' or id = 'r7'`,
        `measures: count(1) as n, sum(scores.a) as a | from: ${object}`,
        `infer: metadata | from: ${object}`,
      ]) {
        const { json, text } = await service.query(query, version === undefined ? {} : { version })
        const answer = json.data ?? json.error?.code ?? text
        answers.set(`${query} @ ${version ?? 'now'}`, JSON.stringify(answer))
      }
    }
  }
  return answers
}

/** The questions that are answered in two ways, with the beginnings of both. */
export function differences(
  a: ReadonlyMap<string, string>,
  b: ReadonlyMap<string, string>,
): string[] {
  const questions = [...new Set([...a.keys(), ...b.keys()])]
  const differing = questions.filter((question) => a.get(question) !== b.get(question))
  return differing.map((question) => {
    const [one = '', other = ''] = [a.get(question), b.get(question)]
    let at = 0
    while (at < one.length && one[at] === other[at]) at++
    const part = (text: string) => text.slice(Math.max(0, at - 60), at + 120)
    return `${question}: ${part(one)} | ${part(other)}`
  })
}

export function digestOf(answers: ReadonlyMap<string, string>): string {
  return createHash('sha256')
    .update(JSON.stringify([...answers]))
    .digest('hex')
}
