/** Finds records one of whose versions has a text as one of its values, however old and whatever became of it. */
import type { WireError } from '../../error.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { RecordReader } from '../read/record-reader.ts'
import type { RowView } from '../row/row.ts'

export interface TextQuestion {
  readonly kind: 'texts'
  /** The number of an object. */
  readonly object: number
  readonly texts: readonly string[]
  /** Where to go on. */
  readonly from: RowKey
  /** No more is read, unless one row is larger. */
  readonly bytes: number
}

export interface FoundTexts {
  readonly ids: readonly string[]
  readonly versions: number
  /** Where to go on; undefined at the end. */
  readonly next: RowKey | undefined
}

export type TextAnswer = { readonly texts: FoundTexts } | { readonly error: WireError }

const endOfTime: RowKey = { transaction: 2 ** 48 - 2, index: 0xffff }
const backslash = 0x5c

export function findTexts(
  { object, texts, from, bytes }: TextQuestion,
  records: RecordsEnvironment,
): FoundTexts {
  records.root.resetReadTxn()
  const transaction = records.root.useReadTransaction()
  try {
    const wanted = new Set(texts)
    const quick = texts.map((text) => Buffer.from(text))
    const ids = new Set<string>()
    let [versions, read] = [0, 0]
    const rows = new RecordReader(records).versionsBetween(object, from, endOfTime, transaction)
    for (const { key, view } of rows) {
      if (read >= bytes && compareRowKeys(key, from) > 0)
        return { ids: [...ids], versions, next: key }
      read += view.bytes.length
      if (!hasAny(view, wanted, quick)) continue
      versions++
      ids.add(JSON.parse(view.fieldText('id') ?? '""') as string)
    }
    return { ids: [...ids], versions, next: undefined }
  } finally {
    transaction.done()
    records.root.resetReadTxn()
  }
}

function hasAny(view: RowView, wanted: ReadonlySet<string>, quick: readonly Buffer[]): boolean {
  const bytes = Buffer.from(view.bytes.buffer, view.bytes.byteOffset, view.bytes.length)
  for (let i = 0; i < view.fieldCount; i++) {
    const { start, end } = view.valueAt(i)
    const text = bytes.subarray(start, end)
    // What has escapes may spell the text in another way.
    if (!text.includes(backslash) && !quick.some((one) => text.includes(one))) continue
    if (hasValue(JSON.parse(text.toString()), wanted)) return true
  }
  return false
}

function hasValue(value: unknown, wanted: ReadonlySet<string>): boolean {
  const open: unknown[] = [value]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (
      typeof one === 'string' ? wanted.has(one) : typeof one === 'number' && wanted.has(`${one}`)
    ) {
      return true
    }
    if (typeof one !== 'object' || one === null) continue
    if (Object.keys(one).some((name) => wanted.has(name))) return true
    open.push(...Object.values(one))
  }
  return false
}
