/** Moments that a backup is restored to. */
import { AssayError } from '../error.ts'
import { parseTransaction } from '../type/transaction.ts'
import type { NamedManifest } from './manifest.ts'

/** The end of the last backup, or all that was written up to a transaction. */
export type Moment = 'last' | MomentWithin

export interface MomentWithin {
  readonly transaction: number
  /** Whether it was named by its transaction. */
  readonly isTransaction: boolean
  /** In ms since 1970: what the catalog was then. */
  readonly time: number
}

const transactionsPerSecond = 0x10000

/** A transaction as `_xact_id` shows it, or a time; of a time, its whole second. */
export function parseMoment(text: string): MomentWithin {
  if (/^\d{17,20}$|^[0-9a-f]{16}$/i.test(text)) {
    const transaction = parseTransaction(text)
    // Transactions are numbered by the second in which they were given.
    const second = Math.floor(transaction / transactionsPerSecond)
    return { transaction, isTransaction: true, time: (second + 1) * 1000 }
  }
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) {
    throw new AssayError('COMMAND_INVALID', `"${text}" is neither a transaction nor a time`, {
      hint: 'give an _xact_id, or a time as in 2026-01-31T12:00:00Z',
    })
  }
  const second = Math.floor(ms / 1000)
  const transaction = (second + 1) * transactionsPerSecond - 1
  return { transaction, isTransaction: false, time: (second + 1) * 1000 }
}

/** The first one that has all of the moment; the last one there is for `last`. */
export function chooseManifest(
  store: string,
  manifests: readonly NamedManifest[],
  moment: Moment,
): NamedManifest {
  const last = manifests.at(-1)
  if (!last) throw new AssayError('COMMAND_INVALID', `there is no backup in ${store}`)
  // Of several data directories, that of the last backup is meant.
  const own = manifests.filter(({ manifest }) => manifest.source === last.manifest.source)
  if (moment === 'last') return last
  const found = own.find(({ manifest }) => {
    if (manifest.transaction >= moment.transaction) return true
    return !moment.isTransaction && manifest.time >= moment.time
  })
  if (found) return found
  const until = new Date(last.manifest.time).toISOString()
  throw new AssayError('COMMAND_INVALID', `the backups in ${store} end before that: at ${until}`, {
    hint: 'leave out --to for all that they have',
  })
}
