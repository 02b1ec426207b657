/** `assay backup`: takes one backup, or goes on taking them. */
import { setPriority } from 'node:os'
import { SingleBar } from 'cli-progress'
import type { BackupStore } from '../../backup/backup-store.ts'
import { ServiceSource } from '../../backup/service-source.ts'
import { type TakenBackup, takeBackup } from '../../backup/take-backup.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { Client, type ConnectionOptions } from '../client.ts'
import { counted } from '../counted.ts'
import { openStore } from './open-store.ts'
import { Pace } from './pace.ts'

export interface BackupFlags extends ConnectionOptions {
  readonly full?: boolean
  readonly secrets: boolean
  readonly mbPerSecond?: string
}

export async function runBackup(destination: string, flags: BackupFlags): Promise<void> {
  // Whatever else runs on this machine goes first.
  setPriority(10)
  const source = new ServiceSource(new Client(flags))
  const store = await openStore(destination, 'write')
  const unlock = await store.lock()
  try {
    const taken = await takeOne(store, source, flags, 'backup')
    await store.close()
    await report(source, taken, undefined)
    say(summaryOf(taken, store))
    process.exitCode = missingOf(taken) === 0 ? 0 : 1
  } finally {
    await unlock()
  }
}

export async function takeOne(
  store: BackupStore,
  source: ServiceSource,
  flags: Pick<BackupFlags, 'full' | 'secrets' | 'mbPerSecond'>,
  kind: 'backup' | 'archive',
): Promise<TakenBackup> {
  const pace = new Pace(flags.mbPerSecond)
  const bar = kind === 'backup' ? progressBar() : undefined
  let read = 0
  try {
    return await takeBackup(store, source, {
      kind,
      hasSecrets: flags.secrets,
      isFull: flags.full === true,
      onRead: async (what, bytes) => {
        read += bytes
        bar?.update({ what, megabytes: (read / 2 ** 20).toFixed(1) })
        await pace.after(bytes)
      },
    })
  } finally {
    bar?.stop()
  }
}

/** A backup that lacks something is none that anybody should count on. */
export async function report(
  source: ServiceSource,
  taken: TakenBackup,
  maxAgeSeconds: number | undefined,
): Promise<void> {
  if (missingOf(taken) > 0) return
  const { kind, time, transaction } = taken.manifest
  await source.report({
    kind,
    time,
    transaction,
    ...(maxAgeSeconds !== undefined && { max_age_seconds: maxAgeSeconds }),
  })
}

export function missingOf({ manifest }: TakenBackup): number {
  return manifest.ranges.reduce((sum, { missing }) => sum + missing, 0)
}

export function summaryOf(taken: TakenBackup, store: BackupStore): string {
  const { path, manifest, previous } = taken
  const after = previous?.manifest.transaction ?? 0
  const added = manifest.ranges.filter((range) => range.after >= after)
  const rows = added.reduce((sum, range) => sum + range.rows, 0)
  const missing = missingOf(taken)
  const since = previous ? ` since ${previous.path}` : ''
  const lacking =
    missing === 0
      ? ''
      : `\n${counted(missing, 'row version')} could not be read, damaged in the service. ` +
        'Everything else is in the backup.'
  return (
    `${path} in ${store.name}: everything up to transaction ${formatTransaction(manifest.transaction)}, ` +
    `with ${counted(rows, 'row version')}${since}.${lacking}`
  )
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function progressBar(): SingleBar | undefined {
  if (!process.stderr.isTTY) return undefined
  const format = '{what} | {megabytes} MB read | {duration_formatted}'
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true })
  bar.start(1, 0, { what: 'rows', megabytes: '0.0' })
  return bar
}
