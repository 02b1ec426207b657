/**
 * Rows that may have a field in another place than its columns: in the residual or the row store. Those
 * that have an object of which only members are there are not among them.
 */

import { newBytes, newCodes } from '../../kernel/arena.ts'
import { anyBit, expandBits } from '../../kernel/bitmap.ts'
import { orInto } from '../../kernel/logic.ts'
import type { ColumnSet, TextColumn, UnnumberedColumn } from '../../vector/column.ts'
import { isSet, storedRows } from '../../vector/read-column.ts'
import { rowsOf, type Selection } from '../../vector/vector.ts'
import { NamedRows } from '../column/named-rows.ts'
import { type ResidualValues, residualValues } from '../column/residual-values.ts'
import { selectPresent, selectPresentWithin } from './select-present.ts'

type DictionaryColumn = Extract<TextColumn, { readonly encoding: 'dictionary' }>

export class ElsewhereRows {
  /** Bitmaps of rows of which the row store alone has the field. */
  readonly #stored: readonly Uint8Array[]
  readonly #residual: UnnumberedColumn | undefined = undefined
  /** Of all rows that have one of both, where not all rows have a residual. */
  readonly #bitmaps: readonly Uint8Array[]
  /** Those that may have something at the path, or below it, in a residual that is not numbered. */
  readonly named: NamedRows | undefined = undefined
  /** Where equal residuals are numbered: what they have at the path. */
  readonly numbered: NumberedResidual | undefined = undefined

  constructor(set: ColumnSet, path: readonly string[]) {
    this.#stored = storedRows(set, path)
    const residual = set.residualMayBe(path) ? set.residual : undefined
    if (residual?.encoding === 'dictionary') {
      this.numbered = new NumberedResidual(residual, path, this.#stored)
    } else this.#residual = residual
    this.#bitmaps = [
      ...this.#stored,
      ...(this.#residual?.validity ? [this.#residual.validity] : []),
    ]
    const whole = set.residualMayHold(path) ? set.residual : undefined
    if (whole && whole.encoding !== 'dictionary') {
      this.named = new NamedRows(whole, set.rowCount, path)
    }
  }

  /** Whether no row of the set has the field elsewhere. */
  get areNone(): boolean {
    return this.#stored.length === 0 && !this.#residual && !this.numbered
  }

  /** Whether the field may be elsewhere in some of the rows `from … from + count` of the set. */
  any(from: number, count: number): boolean {
    return this.anyUnread(from, count) || this.numbered?.any(from, count) === true
  }

  /** The same for what is known of no row before it is read. */
  anyUnread(from: number, count: number): boolean {
    const residual = this.#residual
    if (residual && (!residual.validity || anyBit(residual.validity, from, count))) return true
    return this.#stored.some((bits) => anyBit(bits, from, count))
  }

  /** Of the selected rows of a batch, those to be read, ascending. */
  among(selection: Selection, from: number, count: number): Int32Array {
    const bitmaps = this.#bitmaps.filter((bits) => anyBit(bits, from, count))
    const isAnyRow = this.#residual !== undefined && this.#residual.validity === undefined
    if (bitmaps.length === 0 && !isAnyRow) return none
    const rows = isAnyRow ? rowsOf(selection, count) : selectIn(bitmaps, from, count, selection)
    const marks = newBytes(count).fill(0)
    const bits = newBytes(count)
    for (const stored of this.#stored) {
      if (!anyBit(stored, from, count)) continue
      expandBits(stored, from, count, bits)
      orInto(marks, bits, count)
    }
    const validity = this.#residual?.validity
    if (this.#residual && (!validity || anyBit(validity, from, count))) {
      this.named?.mark(rows, from, count, marks)
    }
    const kept = newCodes(rows.length)
    let keptCount = 0
    for (let i = 0; i < rows.length; i++) {
      kept[keptCount] = rows[i]!
      keptCount += marks[rows[i]!]!
    }
    return kept.subarray(0, keptCount)
  }
}

/** A residual whose codes tell what rows have at a path. */
export class NumberedResidual {
  readonly #column: DictionaryColumn
  readonly #stored: readonly Uint8Array[]
  readonly #path: readonly string[]
  #values: ResidualValues | undefined

  /** @param stored rows of which the residual does not count */
  constructor(column: DictionaryColumn, path: readonly string[], stored: readonly Uint8Array[]) {
    this.#column = column
    this.#path = path
    this.#stored = stored
  }

  get values(): ResidualValues {
    this.#values ??= residualValues(this.#column.dictionary, this.#path)
    return this.#values
  }

  any(from: number, count: number): boolean {
    const { validity } = this.#column
    if (validity && !anyBit(validity, from, count)) return false
    return this.values.values.length > 0
  }

  /** The selected rows that have a value. Some may have members of it elsewhere. */
  among(selection: Selection, from: number, count: number): Int32Array {
    const { validity } = this.#column
    const { codes } = this.values
    const ofRows = this.#column.codes.between(from, count)
    const rows = validity ? selectIn([validity], from, count, selection) : rowsOf(selection, count)
    const out = newCodes(rows.length)
    let found = 0
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      const code = ofRows[row]!
      out[found] = row
      found += +(code >= 0 && codes[code]! >= 0)
    }
    const among = out.subarray(0, found)
    const stored = this.#stored.filter((bits) => anyBit(bits, from, count))
    if (stored.length === 0) return among
    return among.filter((row) => !stored.some((bits) => isSet(bits, from + row)))
  }

  /** Codes of the values of such rows, one after the other. */
  codesOf(rows: Int32Array, from: number, count: number): Int32Array {
    const ofRows = this.#column.codes.between(from, count)
    const { codes } = this.values
    const out = newCodes(rows.length)
    for (let i = 0; i < rows.length; i++) out[i] = codes[ofRows[rows[i]!]!]!
    return out
  }
}

const none = new Int32Array(0)

function selectIn(
  bitmaps: readonly Uint8Array[],
  first: number,
  count: number,
  selection: Selection,
): Int32Array {
  const out = newCodes(selection ? selection.length : count)
  const selected = selection
    ? selectPresentWithin({ bitmaps, first }, true, selection, out)
    : selectPresent({ bitmaps, first }, true, count, out)
  return out.subarray(0, selected)
}
