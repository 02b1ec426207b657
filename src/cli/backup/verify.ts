/** `assay backup verify` and `assay backup list`. */
import { SingleBar } from 'cli-progress'
import { type NamedManifest, readManifests } from '../../backup/manifest.ts'
import { verifyBackups } from '../../backup/verify-backups.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { counted } from '../counted.ts'
import { openStore } from './open-store.ts'

const mostNamed = 20

/** Ends with 1 if something is damaged. */
export async function runVerify(place: string): Promise<void> {
  const store = await openStore(place, 'read')
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{value} pieces, {megabytes} MB', stream: process.stderr })
    : undefined
  bar?.start(1, 0, { megabytes: '0' })
  const verified = await verifyBackups(store, (pieces, bytes) => {
    bar?.update(pieces, { megabytes: (bytes / 2 ** 20).toFixed(1) })
  }).finally(() => bar?.stop())
  const { backups, faults, pieces, bytes } = verified
  const megabytes = (bytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 1 })
  const count = backups.length
  const read = count === 1 ? 'one backup or archive' : `${count} backups and archives`
  print(`Read ${read}: ${pieces.toLocaleString('en')} pieces, ${megabytes} MB.`)
  if (faults.length === 0) {
    if (backups.length === 0) process.exitCode = 1
    print(
      backups.length === 0 ? `There is no backup in ${store.name}.` : 'All is as it was written.',
    )
    return
  }
  process.exitCode = 1
  for (const { what, backups: paths } of faults) {
    print(`${what}: needed by`)
    for (const path of paths.slice(0, mostNamed)) print(`  ${path}`)
    if (paths.length > mostNamed) print(`  and ${paths.length - mostNamed} more`)
  }
  print('Take a backup with --full: it needs none of what is damaged.')
}

export async function runList(place: string): Promise<void> {
  const store = await openStore(place, 'read')
  const manifests = await readManifests(store, (_, { message }) => print(message))
  for (const each of manifests) print(lineOf(each))
}

function lineOf({ path, manifest }: NamedManifest): string {
  const { time, transaction, ranges, secrets } = manifest
  const rows = ranges.reduce((sum, range) => sum + range.rows, 0)
  return [
    path,
    new Date(time).toISOString(),
    `up to ${formatTransaction(transaction)}`,
    counted(rows, 'row version'),
    ...(secrets ? [] : ['without secrets']),
  ].join('  ')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
