/** The versions of the rows in a value of the row store (`row-block.ts`). */
import { compareRowKeys, type RowKey, rowKey, rowsPerTransaction } from '../../type/transaction.ts'
import { readUint48 } from '../big-endian.ts'
import { readRowKey } from '../record-key.ts'

/** Of each row in a block of a request: how far it stands from the one before it. */
export const stepBytes = 4
/** Of each row in a packed block: its version, and its other keys. */
export const keysBytes = 32

/** Which version each row of a value has. */
export interface Places {
  versionAt(place: number): RowKey
  /** As `compareRowKeys` of the version there and another, without a key that is made for it. */
  compareAt(place: number, version: RowKey): number
}

/** Of a row by itself. */
export function placesOf(version: RowKey): Places {
  return {
    versionAt: () => version,
    compareAt: (_, other) => compareRowKeys(version, other),
  }
}

/** The versions of any rows, as they stand in the head of a block. */
export class PackedPlaces implements Places {
  readonly #head: Buffer

  constructor(head: Buffer) {
    this.#head = head
  }

  versionAt(place: number): RowKey {
    return readRowKey(this.#head, place * keysBytes)
  }

  compareAt(place: number, { transaction, index }: RowKey): number {
    const head = this.#head
    const at = place * keysBytes
    return readUint48(head, at) - transaction || ((head[at + 6]! << 8) | head[at + 7]!) - index
  }
}

/** The versions of a request's rows, by the steps between their numbers. */
export class RequestPlaces implements Places {
  readonly #first: RowKey
  readonly #numbers: Float64Array

  constructor(first: RowKey, body: Buffer, rowCount: number) {
    this.#first = first
    this.#numbers = new Float64Array(rowCount)
    let number = first.index
    for (let i = 0; i < rowCount; i++) {
      number += body.readUInt32BE(i * stepBytes)
      this.#numbers[i] = number
    }
  }

  versionAt(place: number): RowKey {
    return rowKey(this.#first.transaction, this.#numbers[place]!)
  }

  compareAt(place: number, { transaction, index }: RowKey): number {
    // Of transactions far apart the product is rounded, but has the right sign.
    const counters = this.#first.transaction - transaction
    return counters * rowsPerTransaction + (this.#numbers[place]! - index)
  }
}
