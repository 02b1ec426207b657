import { newTable } from '../../kernel/arena.ts'
import { leadCodes, leadCodesWithin, mapCodes, mapCodesWithin } from '../../kernel/gather.ts'
import type { Selection } from '../../vector/vector.ts'

/** Codes of a map for each row of a batch up to which it is worth to have the map in the kernel arena. */
const codesPerRow = 16

/**
 * Leads from the codes that segments give to those of a shared dictionary. The map of the segment that was read last
 * lies in the kernel arena, in room that those of others had before.
 */
export class CodeRemap {
  #map: Int32Array | undefined
  #room: Int32Array = new Int32Array(0)
  /** The map, and -1, for null, at its end. */
  #table: Int32Array = new Int32Array(0)

  /** Writes the codes of the selected rows, one after the other, to `out`; -1 stays as it is. */
  remap(
    map: Int32Array,
    codes: Int32Array,
    rowCount: number,
    selection: Selection,
    out: Int32Array,
  ): void {
    const count = selection ? selection.length : rowCount
    if (map !== this.#map && map.length > count * codesPerRow) {
      if (selection) leadCodesWithin(map, codes, selection, out)
      else leadCodes(map, codes, rowCount, out)
      return
    }
    if (map !== this.#map) this.#take(map)
    if (selection) mapCodesWithin(this.#table, codes, selection, out)
    else mapCodes(this.#table, codes, rowCount, out)
  }

  #take(map: Int32Array): void {
    const length = map.length + 1
    if (length > this.#room.length) this.#room = newTable(2 ** Math.ceil(Math.log2(length)), -1)
    this.#map = map
    this.#table = this.#room.subarray(0, length)
    this.#table.set(map)
    this.#table[map.length] = -1
  }
}
