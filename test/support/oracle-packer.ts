/** Bodies of blocks as simply as can be: what `kernel/row-pack.ts` is held to. */
import { RowView } from '../../src/storage/row/row.ts'

interface Field {
  readonly rank: number
  readonly name: Buffer
  readonly value: Buffer
  /** As `storage/row/packed-value.ts` numbers them. */
  readonly kind: 0 | 1 | 2
}

const hex = /^"(?:[0-9a-f]{2}){8,}"$/
const uuid = /^"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/

/** All but the members, these, and where among them those of each row end. */
export function packByOracle(rows: readonly Buffer[]): {
  readonly head: Buffer
  readonly members: Buffer
  readonly ends: readonly number[]
} {
  const tables = new Map<string, { readonly place: number; readonly bytes: Buffer }>()
  const [created, flags, shapes, lengths, members]: Buffer[][] = [[], [], [], [], []]
  const ends: number[] = []
  for (const row of rows) {
    const view = new RowView(row)
    const fields = fieldsOf(view)
    const bytes = tableOf(fields)
    const key = bytes.toString('latin1')
    const table = tables.get(key) ?? { place: tables.size, bytes }
    tables.set(key, table)
    created!.push(numberOf(8, (to) => to.writeDoubleBE(view.createdMs)))
    flags!.push(Buffer.from([view.flags]))
    shapes!.push(numberOf(2, (to) => to.writeUInt16BE(table.place)))
    for (const { name, value, kind } of fields) {
      lengths!.push(varintOf(value.length))
      members!.push(name, Buffer.from(':'), kind === 0 ? value : packed(value))
    }
    ends.push(members!.reduce((sum, { length }) => sum + length, 0))
  }
  const table = Buffer.concat(Array.from(tables.values(), ({ bytes }) => bytes))
  const lengthBytes = Buffer.concat(lengths!)
  const sizes = [table.length, lengthBytes.length].map((size) =>
    numberOf(4, (to) => to.writeUInt32BE(size)),
  )
  const head = [...sizes, ...created!, ...flags!, ...shapes!, table, lengthBytes]
  return { head: Buffer.concat(head), members: Buffer.concat(members!), ends }
}

/** In the order of the text. */
function fieldsOf(view: RowView): Field[] {
  return Array.from({ length: view.fieldCount }, (_, rank) => {
    const [name, of] = [view.nameAt(rank), view.valueAt(rank)]
    const value = view.bytes.subarray(of.start, of.end)
    const text = value.toString('latin1')
    const kind = uuid.test(text) ? 2 : hex.test(text) ? 1 : 0
    return { rank, name: view.bytes.subarray(name.start, name.end), value, kind } as const
  }).sort((a, b) => view.memberStart(a.rank) - view.memberStart(b.rank))
}

function tableOf(fields: readonly Field[]): Buffer {
  const count = numberOf(2, (to) => to.writeUInt16BE(fields.length))
  const entries = fields.map(({ rank, name, kind }) =>
    numberOf(7, (to) => {
      to.writeUInt16BE(rank)
      to.writeUInt32BE(name.length, 2)
      to.writeUInt8(kind, 6)
    }),
  )
  return Buffer.concat([count, ...entries])
}

function packed(value: Buffer): Buffer {
  return Buffer.from(value.toString('latin1').replaceAll(/["-]/g, ''), 'hex')
}

function varintOf(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

function numberOf(length: number, write: (to: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(length)
  write(bytes)
  return bytes
}
