import { anyBit } from '../../kernel/bitmap.ts'
import type { ColumnSet, TextColumn } from '../../vector/column.ts'
import { isValid, storedRows, textBytesAt } from '../../vector/read-column.ts'

export interface Member {
  readonly name: string
  readonly path: readonly string[]
  /** Rows in which the member is itself an object. */
  readonly objects: Uint8Array | undefined
}

/** What the objects at a path hold, as far as that is in columns of their own. */
export class ObjectMembers {
  readonly #members: readonly Member[]
  readonly #json: TextColumn | undefined
  /** Bitmaps of rows that may hold members which no column tells. */
  readonly #elsewhere: readonly (Uint8Array | 'all')[]

  constructor(set: ColumnSet, path: readonly string[]) {
    const below = set.pathsBelow(path)
    this.#members = below
      .filter((member) => member.length === path.length + 1)
      .map((member) => ({
        name: member.at(-1)!,
        path: member,
        objects: set.columns(member)?.objects,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    this.#json = set.columns(path)?.json
    const residual = set.residualMayHold(path) ? set.residual : undefined
    this.#elsewhere = [
      ...storedRows(set, path),
      ...below.flatMap((member) => set.columns(member)?.stored ?? []),
      ...(residual ? [residual.validity ?? ('all' as const)] : []),
    ]
  }

  /** In the order of their names; undefined when columns do not tell all that the rows hold. */
  between(from: number, to: number): readonly Member[] | undefined {
    const count = to - from
    if (this.#elsewhere.some((bits) => bits === 'all' || anyBit(bits, from, count)))
      return undefined
    if (this.#members.some(({ objects }) => objects && anyBit(objects, from, count))) {
      return undefined
    }
    return this.#json && !areEmpty(this.#json, from, to) ? undefined : this.#members
  }
}

/** Whether what has no column of its own is `{}` and `[]`: those have no members. */
function areEmpty(column: TextColumn, from: number, to: number): boolean {
  for (let row = from; row < to; row++) {
    if (!isValid(column.validity, row)) continue
    if (column.encoding === 'compressed' && column.texts.lengthAt(row) !== 2) return false
    const text = textBytesAt(column, row)!
    if (text.length !== 2 || (text[0] !== openBrace && text[0] !== openBracket)) return false
  }
  return true
}

const openBrace = 0x7b
const openBracket = 0x5b
