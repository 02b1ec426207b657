/**
 * Packing: rows that were written by themselves become blocks, and small blocks larger ones. A
 * transaction that writes a block removes what is in it, so a row is always in one place.
 */
import { AssayError } from '../../error.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { RecordReader } from '../read/record-reader.ts'
import { rowVersionKey, transactionKey, transactionOf } from '../record-key.ts'
import {
  fullBlockBytes,
  fullBlockRows,
  hasKeysAlone,
  isBlock,
  packedBlock,
  RowBlock,
} from '../row/row-block.ts'

const packedKey = Buffer.from('packed')

/** Blocks that take more, compressed, stay as they are. */
const smallBytes = fullBlockBytes / 16
/** A row that is larger stays as it is: its value is mapped, not copied, when it is read. */
const largestRow = 2 ** 22
/** A single row that is smaller has nothing to gain. */
const worthwhileRow = 1024
/** Blocks that one transaction writes: some ten milliseconds. */
const blocksPerTransaction = 8

/** Values of one object that stand side by side, to be stored as one. */
interface Group {
  readonly keys: readonly Buffer[]
  readonly versions: readonly RowKey[]
  readonly rows: readonly Uint8Array[]
}

/** Packs the rows of transactions up to `through` that were not packed before. */
export function packRows(records: RecordsEnvironment, through: number): void {
  // If the note is damaged, all is gone over again.
  const known = records.progress.getUnlessDamaged(packedKey)
  const after = known ? transactionOf(known) : 0
  if (after >= through) return
  records.root.resetReadTxn()
  const objects = new RecordReader(records).objectsWrittenAfter(after)
  for (const object of objects) packObject(records, object, after, through)
  records.root.transactionSync(() => {
    records.progress.putSync(packedKey, transactionKey(through))
  })
}

function packObject(
  records: RecordsEnvironment,
  object: number,
  after: number,
  through: number,
): void {
  const { root, rows } = records
  let groups: Group[] = []
  const write = () => {
    const values = groups.map(({ keys, versions, rows }) => packedBlock(keys[0]!, versions, rows))
    root.transactionSync(() => {
      groups.forEach(({ keys }, i) => {
        for (const key of keys.slice(1)) rows.removeSync(key)
        rows.putSync(keys[0]!, values[i]!)
      })
    })
    groups = []
  }
  const transaction = root.useReadTransaction()
  try {
    const range = rows.getRange({
      // The last block of an earlier time may have room.
      start: lastKeyBefore(records, object, after),
      end: rowVersionKey(object, { transaction: through + 1, index: 0 }),
      transaction,
    })
    for (const group of groupsOf(records, range)) {
      groups.push(group)
      if (groups.length === blocksPerTransaction) write()
    }
  } finally {
    transaction.done()
  }
  if (groups.length > 0) write()
}

function lastKeyBefore({ rows }: RecordsEnvironment, object: number, after: number): Buffer {
  const from = rowVersionKey(object, { transaction: after + 1, index: 0 })
  const end = rowVersionKey(object, { transaction: 0, index: 0 })
  for (const key of rows.getKeys({ start: from, end, reverse: true, limit: 1 })) return key
  return from
}

function* groupsOf(
  records: RecordsEnvironment,
  values: Iterable<{ readonly key: Buffer; readonly value: Buffer }>,
): Generator<Group> {
  let group = new OpenGroup()
  for (const { key, value } of values) {
    const isPacked =
      hasKeysAlone(value) || value.length > (isBlock(value) ? smallBytes : largestRow)
    const block = isPacked ? undefined : readBlock(records, key, value)
    if (!block || !group.hasRoomFor(block)) {
      if (group.isWorthwhile) yield group
      group = new OpenGroup()
    }
    if (block) group.add(key, block, !isBlock(value))
  }
  if (group.isWorthwhile) yield group
}

/** Undefined when some of it cannot be read: it stays as it is. */
function readBlock(records: RecordsEnvironment, key: Buffer, value: Buffer): RowBlock | undefined {
  try {
    const block = new RowBlock(key, value, records.checkedSince)
    return block.damagedVersions().length === 0 ? block : undefined
  } catch (thrown) {
    if (thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT') return undefined
    throw thrown
  }
}

class OpenGroup implements Group {
  readonly keys: Buffer[] = []
  readonly versions: RowKey[] = []
  readonly rows: Uint8Array[] = []
  #bytes = 0
  #isRow = false

  hasRoomFor(block: RowBlock): boolean {
    return (
      this.keys.length === 0 ||
      (this.#bytes + block.byteLength <= fullBlockBytes &&
        this.versions.length + block.rowCount <= fullBlockRows)
    )
  }

  /** Whether it is not the one value that is stored already. */
  get isWorthwhile(): boolean {
    return this.keys.length > 1 || (this.#isRow && this.#bytes >= worthwhileRow)
  }

  add(key: Buffer, block: RowBlock, isRow: boolean): void {
    this.keys.push(key)
    this.#isRow = isRow
    for (let place = 0; place < block.rowCount; place++) {
      const view = block.rowAt(place)
      if (!view) continue
      this.versions.push(block.versionAt(place))
      this.rows.push(view.bytes)
    }
    this.#bytes += block.byteLength
  }
}
