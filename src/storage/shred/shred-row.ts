/** The second pass of shredding: hands every value of a row to the columns of its path. */
import { decodeUtf8 } from '../../json/utf8.ts'
import { parseTimestamp } from '../../type/time.ts'
import { isTimeOfNumber, nearMs } from '../../type/value.ts'
import type { PathColumns, TextColumn } from '../../vector/column.ts'
import { ListedColumns } from '../../vector/column-table.ts'
import { letQueriesPass } from '../give-way.ts'
import { fieldNameBytes, type RowView } from '../row/row.ts'
import { boundedResidualPaths, maximumResidualPaths } from './residual-paths.ts'
import { kind, PathBuilder } from './shred-column.ts'
import { findChild, guessChild, type NamedNode, parseName } from './shred-node.ts'
import type { ChosenPath } from './shred-paths.ts'
import { ResidualWriter } from './shred-residual.ts'
import { Unescaper, ValueScanner } from './shred-scan.ts'
import { byteSource } from './text-pool.ts'

export interface RowShredderOptions {
  readonly fields: ReadonlySet<string> | undefined
  readonly maximumValueBytes: number
}

export interface ShreddedColumns {
  readonly paths: ListedColumns
  readonly residual: TextColumn | undefined
  /** As `ColumnTable` has them. */
  readonly residualPaths: readonly (readonly string[])[]
}

/** A chosen path while rows are shredded. */
interface ShredNode extends NamedNode<ShredNode> {
  readonly path: readonly string[]
  readonly builder: PathBuilder
  /** Names below it that went into a residual; none where those were too many to list. */
  readonly residualNames: Set<string>
  hasManyResiduals: boolean
}

/** Takes rows in ascending order and gives their columns. */
export class RowShredder {
  readonly #root: ShredNode
  readonly #created: ShredNode | undefined
  readonly #fields: readonly { name: string; quotedBytes: number }[] | undefined
  readonly #maximumValueBytes: number
  readonly #scanner = new ValueScanner()
  readonly #unescaper = new Unescaper()
  readonly #residual: ResidualWriter
  readonly #residuals: PathBuilder
  /** Those with names below them that are listed, and how many these are. */
  readonly #residualParents = new Set<ShredNode>()
  #residualNameCount = 0
  #row = -1
  #createdMs = 0
  /** Whether the present field names a key twice. */
  #hasDuplicate = false

  constructor(rowCount: number, paths: readonly ChosenPath[], options: RowShredderOptions) {
    this.#root = shredNode([], paths, rowCount)
    this.#created = this.#root.children.find((node) => node.path[0] === 'created')
    this.#fields =
      options.fields &&
      [...options.fields].map((name) => ({ name, quotedBytes: fieldNameBytes(name).length }))
    this.#maximumValueBytes = options.maximumValueBytes
    this.#residual = new ResidualWriter(options.maximumValueBytes)
    this.#residuals = new PathBuilder(rowCount)
  }

  add(row: number, view: RowView): void {
    letQueriesPass()
    this.#begin(row, view.bytes, view.createdMs)
    if (this.#fields === undefined) {
      const count = view.fieldCount
      for (let i = 0; i < count; i++) {
        const start = view.memberStart(i)
        const nameEnd = start + view.nameLength(i)
        if (!this.#field(start, nameEnd, nameEnd + 1 + view.valueLength(i))) return
      }
    } else {
      for (const { name, quotedBytes } of this.#fields) {
        const value = view.field(name)
        if (value === undefined) continue
        const nameEnd = value.start - 1
        if (!this.#field(nameEnd - quotedBytes, nameEnd, value.end)) return
      }
    }
    this.#end()
  }

  /** Takes the members of a residual as a row; `created`, which is never in one, is not among them. */
  addObject(row: number, text: Buffer): void {
    this.#begin(row, text, Number.NaN)
    const scanner = this.#scanner
    for (let position = 1; ; ) {
      const start = scanner.skipSeparators(position)
      if (scanner.bytes[start] === 0x7d) break
      const nameEnd = scanner.endOfString(start)
      position = scanner.endOfValue(scanner.skipColon(nameEnd))
      if (!this.#field(start, nameEnd, position)) return
    }
    this.#end()
  }

  finish(): ShreddedColumns {
    const paths: (readonly [readonly string[], PathColumns])[] = []
    const residualPaths: (readonly string[])[] = []
    const visit = (node: ShredNode) => {
      const columns = node.builder.finish()
      if (columns !== undefined) paths.push([node.path, columns])
      if (node.hasManyResiduals) residualPaths.push(node.path)
      for (const name of node.residualNames) residualPaths.push([...node.path, name])
      for (const child of node.children) visit(child)
    }
    visit(this.#root)
    const residual = this.#residuals.finish()?.json
    return {
      paths: new ListedColumns(paths),
      residual,
      residualPaths: residual ? boundedResidualPaths(residualPaths) : [],
    }
  }

  #begin(row: number, bytes: Buffer, createdMs: number): void {
    this.#row = row
    this.#createdMs = createdMs
    this.#scanner.start(bytes)
    this.#residual.beginRow()
  }

  #end(): void {
    const residual = this.#residual
    if (!residual.endRow()) return
    const kept = this.#residuals.json(this.#row, residual, 0, residual.length)
    if (!kept) this.#leaveToRowStore(this.#root)
  }

  /**
   * Shreds a member of the row, whose value begins after a colon. Returns false when the whole row
   * is left to the row store, which ends the work on it.
   */
  #field(nameStart: number, nameEnd: number, valueEnd: number): boolean {
    const residual = this.#residual
    residual.mark()
    this.#hasDuplicate = false
    const { bytes } = this.#scanner
    const node =
      guessChild(this.#root, this.#scanner, nameStart) ??
      findChild(this.#root, bytes, nameStart, nameEnd)
    if (node === undefined) this.#addResidual(this.#root, nameStart, nameEnd, nameEnd + 1, valueEnd)
    else this.#fieldValue(node, nameEnd + 1, valueEnd)
    if (!this.#hasDuplicate && !residual.overflowed) return true
    residual.takeBack()
    this.#leaveToRowStore(node ?? this.#root)
    return node !== undefined
  }

  /** The end of a field's value is known, so strings and lists need not be looked through. */
  #fieldValue(node: ShredNode, start: number, end: number): void {
    const first = this.#scanner.bytes[start]!
    if (first === 0x7b) {
      this.#object(node, start)
    } else if (first === 0x22) {
      if (node === this.#created) this.#time(node, start, end)
      else if (node.builder.repeatText(this.#row, this.#scanner, start + 1) < 0) {
        this.#text(node, start + 1, end - 1, this.#scanner.hasBackslash(start + 1, end - 1))
      }
    } else if (first === 0x5b) {
      this.#json(node, start, end)
    } else {
      this.#value(node, start)
    }
  }

  /** Sets the time that the row was made at. Columns have no microseconds of times that are far away. */
  #time({ builder }: ShredNode, start: number, end: number): void {
    const ms = this.#createdMs
    const isNear = Math.abs(ms) < nearMs
    const { bytes } = this.#scanner
    if (isNear || isTimeOfNumber(parseTimestamp(decodeUtf8(bytes, start + 1, end - 1)))) {
      builder.timestamp(this.#row, ms)
    } else builder.mark(this.#row, kind.stored)
  }

  /** Shreds the value at `start` and returns where it ends. */
  #value(node: ShredNode, start: number): number {
    const scanner = this.#scanner
    const { builder } = node
    const row = this.#row
    if (builder.has(row)) {
      // Only the last of duplicates counts; that is for the parser to say, not for columns.
      this.#hasDuplicate = true
      return scanner.endOfValue(start)
    }
    switch (scanner.bytes[start]) {
      case 0x22: {
        const length = builder.repeatText(row, scanner, start + 1)
        if (length >= 0) return start + length + 2
        const end = scanner.endOfString(start)
        this.#text(node, start + 1, end - 1, scanner.escaped)
        return end
      }
      case 0x7b:
        return this.#object(node, start)
      case 0x5b: {
        const end = scanner.endOfValue(start)
        this.#json(node, start, end)
        return end
      }
      case 0x74:
        builder.mark(row, kind.true)
        return start + 4
      case 0x66:
        builder.mark(row, kind.false)
        return start + 5
      case 0x6e:
        builder.mark(row, kind.null)
        return start + 4
      default: {
        const value = scanner.number(start)
        if (scanner.inexact) this.#json(node, start, scanner.end)
        else builder.number(row, value)
        return scanner.end
      }
    }
  }

  #object(node: ShredNode, start: number): number {
    const scanner = this.#scanner
    const { bytes } = scanner
    if (bytes[start + 1] === 0x7d) {
      this.#json(node, start, start + 2)
      return start + 2
    }
    node.builder.mark(this.#row, kind.object)
    this.#residual.enter(node.quotedName.bytes)
    let position = start + 1
    for (;;) {
      const nameStart = scanner.skipSeparators(position)
      if (bytes[nameStart] === 0x7d) break
      let child = guessChild(node, scanner, nameStart)
      if (child !== undefined) {
        position = this.#value(child, scanner.skipColon(nameStart + child.quotedName.bytes.length))
        continue
      }
      const nameEnd = scanner.endOfString(nameStart)
      child = findChild(node, bytes, nameStart, nameEnd)
      const valueStart = scanner.skipColon(nameEnd)
      if (child !== undefined) {
        position = this.#value(child, valueStart)
      } else {
        position = scanner.endOfValue(valueStart)
        this.#addResidual(node, nameStart, nameEnd, valueStart, position)
      }
    }
    this.#residual.leave()
    return scanner.skipSeparators(position) + 1
  }

  /** Sets the string whose bytes between the quotes are given. */
  #text(node: ShredNode, start: number, end: number, escaped: boolean): void {
    const { builder } = node
    const { bytes } = this.#scanner
    const row = this.#row
    if (end - start > this.#maximumValueBytes) {
      builder.mark(row, kind.stored)
    } else if (escaped) {
      const unescaper = this.#unescaper
      const length = unescaper.unescape(bytes, start, end)
      if (length < 0) builder.json(row, this.#scanner, start - 1, end + 1)
      else builder.text(row, unescaper, 0, length, false)
    } else {
      builder.text(row, this.#scanner, start, end, true)
    }
  }

  #json(node: ShredNode, start: number, end: number): void {
    if (end - start > this.#maximumValueBytes) node.builder.mark(this.#row, kind.stored)
    else node.builder.json(this.#row, this.#scanner, start, end)
  }

  #addResidual(
    parent: ShredNode,
    nameStart: number,
    nameEnd: number,
    valueStart: number,
    valueEnd: number,
  ): void {
    const { bytes } = this.#scanner
    this.#residual.member(bytes, nameStart, nameEnd, valueStart, valueEnd)
    if (parent.hasManyResiduals) return
    const name = parseName(bytes, nameStart, nameEnd)
    if (parent.residualNames.has(name)) return
    parent.residualNames.add(name)
    this.#residualParents.add(parent)
    this.#residualNameCount++
    if (this.#residualNameCount > maximumResidualPaths) this.#listFullest()
  }

  /** Has the path above most of the listed names stand for them; the same one that `shredPlainRows` takes. */
  #listFullest(): void {
    let fullest: ShredNode | undefined
    for (const node of this.#residualParents) {
      if (!fullest || node.residualNames.size > fullest.residualNames.size) fullest = node
    }
    if (!fullest) return
    this.#residualNameCount -= fullest.residualNames.size
    this.#residualParents.delete(fullest)
    fullest.residualNames.clear()
    fullest.hasManyResiduals = true
  }

  #leaveToRowStore(node: ShredNode): void {
    clearBelow(node, this.#row)
    node.builder.mark(this.#row, kind.stored)
  }
}

function clearBelow(node: ShredNode, row: number): void {
  node.builder.clear(row)
  for (const child of node.children) clearBelow(child, row)
}

function shredNode(
  path: readonly string[],
  children: readonly ChosenPath[],
  rowCount: number,
): ShredNode {
  return {
    path,
    quotedName: byteSource(Buffer.from(JSON.stringify(path.at(-1) ?? ''))),
    children: children.map((child) => shredNode([...path, child.key], child.children, rowCount)),
    builder: new PathBuilder(rowCount),
    lastChild: -1,
    residualNames: new Set(),
    hasManyResiduals: false,
    names: undefined,
  }
}
