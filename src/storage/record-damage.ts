/** What is said of a damaged value of the records environment. */
import { AssayError } from '../error.ts'
import { formatPaginationKey, formatTransaction, type RowKey } from '../type/transaction.ts'
import { objectOf, readRowKey, transactionOf } from './record-key.ts'

export type RecordsDatabase =
  | 'catalog'
  | 'rows'
  | 'ids'
  | 'id_runs'
  | 'progress'
  | 'log'
  | 'supersessions'
  | 'field_paths'

/** One damaged value, or a part of it, as plain data. */
export interface RecordDamage {
  readonly database: RecordsDatabase
  /** Of the value, in hexadecimal digits. */
  readonly key: string
  /** What is damaged, as the subject of a sentence. */
  readonly what: string
  /** The number of the object that it belongs to, where the key tells. */
  readonly object?: number
  /** The id of the record, where the key tells. */
  readonly id?: string
  /** Row versions that cannot be read. Of a block whose head is damaged, only the first: nothing tells the others. */
  readonly versions?: readonly RowKey[]
}

/** What the key says of a damaged value. */
export function damageAt(database: RecordsDatabase, key: Buffer): RecordDamage {
  return { database, key: key.toString('hex'), ...describe(database, key) }
}

/**
 * Of rows that lie in the value at `key`.
 *
 * @param versions undefined where nothing tells which rows are in it but the key, which has the first
 */
export function damagedRows(key: Buffer, versions: readonly RowKey[] | undefined): RecordDamage {
  const object = objectOf(key)
  const first = readRowKey(key, 4)
  const rows = versions ? rowsText(versions) : `rows from ${versionText(first)} on`
  return {
    database: 'rows',
    key: key.toString('hex'),
    what: `${rows} of ${objectText(object)}`,
    object,
    versions: versions ?? [first],
  }
}

export function damageError({ what, object }: RecordDamage): AssayError {
  return new AssayError('STORAGE_CORRUPT', `${what} cannot be read: what is stored is damaged`, {
    hint: 'run `assay check` on the data directory: it tells all that is damaged, and what can be made again',
    ...(object !== undefined && { object }),
  })
}

/** Whether something was thrown since records of an object are damaged. */
export function isRecordDamage(thrown: unknown): boolean {
  const isDamage = thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT'
  return isDamage && thrown.object !== undefined
}

/** How an object that only its number is known of stands in a message. */
export function objectText(object: number): string {
  return `the object with number ${object}`
}

type Description = Pick<RecordDamage, 'what' | 'object' | 'id' | 'versions'>

function describe(database: RecordsDatabase, key: Buffer): Description {
  const quoted = (from: number) => JSON.stringify(key.toString('utf8', from))
  if (database === 'catalog') return { what: `the catalog's entry ${quoted(0)}` }
  if (database === 'progress') return { what: `the note ${quoted(0)} on the records` }
  // A damaged key may be of any length.
  const padded = Buffer.concat([key, Buffer.alloc(32)])
  if (database === 'log') {
    return { what: `the log's entry for _xact_id ${formatTransaction(transactionOf(padded))}` }
  }
  const object = objectOf(database === 'id_runs' ? padded.subarray(4) : padded)
  const ofObject = `of ${objectText(object)}`
  switch (database) {
    case 'rows': {
      const versions = [readRowKey(padded, 4)]
      return { what: `${rowsText(versions)} ${ofObject}`, object, versions }
    }
    case 'ids': {
      const id = key[4] === 0xff ? undefined : key.toString('utf8', 4)
      const named = id === undefined ? 'a long id' : `the id ${JSON.stringify(id)}`
      return {
        what: `what is known of ${named} ${ofObject}`,
        object,
        ...(id !== undefined && { id }),
      }
    }
    case 'id_runs':
      return { what: `a part of the list of ids ${ofObject}`, object }
    case 'supersessions': {
      const record = formatPaginationKey(readRowKey(padded, 4))
      const what = `the mark of an earlier version of the record ${record} ${ofObject}`
      return { what, object, versions: [readRowKey(padded, 12)] }
    }
    case 'field_paths':
      return { what: `the name of the field ${quoted(4)} ${ofObject}`, object }
  }
}

function rowsText(versions: readonly RowKey[]): string {
  const [first] = versions
  if (!first) return 'rows'
  if (versions.length === 1) return `the row with ${versionText(first)}`
  return `${versions.length} rows from ${versionText(first)} on`
}

function versionText({ transaction, index }: RowKey): string {
  return `_xact_id ${formatTransaction(transaction)}, place ${index},`
}
