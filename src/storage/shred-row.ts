/** The second pass of shredding: hands every value of a row to the columns of its path. */
import type { PathColumns, TextColumn } from '../vector/column.ts'
import { fieldNameBytes, type RowView } from './row.ts'
import { PathBuilder } from './shred-column.ts'
import type { ChosenPath } from './shred-paths.ts'
import { ResidualWriter } from './shred-residual.ts'
import { Unescaper, ValueScanner } from './shred-scan.ts'
import { TextBuilder } from './shred-text.ts'

/** Paths that the residual lists before it counts as holding anything anywhere. */
const maximumResidualPaths = 1024

export interface RowShredderOptions {
  readonly fields: ReadonlySet<string> | undefined
  readonly maximumValueBytes: number
}

export interface ShreddedColumns {
  readonly paths: readonly (readonly [readonly string[], PathColumns])[]
  readonly residual: TextColumn | undefined
  readonly residualPaths: readonly (readonly string[])[] | undefined
}

/** A chosen path while rows are shredded. */
interface ShredNode {
  readonly path: readonly string[]
  /** Its last key as JSON writes it, quotes included. */
  readonly quotedName: Buffer
  readonly children: readonly ShredNode[]
  readonly builder: PathBuilder
  /** The child that was found last: rows are alike, so the next name is likely its neighbour's. */
  lastChild: number
  /** The row that was last seen to have the path. */
  lastRow: number
  /** Names below it that went into a residual. */
  readonly residualNames: Set<string>
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
  readonly #residuals: TextBuilder
  #residualPathCount = 0
  #row = -1
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
    this.#residuals = new TextBuilder(rowCount)
  }

  add(row: number, view: RowView): void {
    this.#row = row
    this.#root.lastRow = row
    const residual = this.#residual
    residual.beginRow()
    if (this.#fields === undefined) {
      for (let i = 0; i < view.fieldCount; i++) {
        const name = view.nameAt(i)
        const value = view.valueAt(i)
        if (!this.#field(view, name.start, name.end, value.start, value.end)) return
      }
    } else {
      for (const { name, quotedBytes } of this.#fields) {
        const value = view.field(name)
        if (value === undefined) continue
        const nameEnd = value.start - 1
        if (!this.#field(view, nameEnd - quotedBytes, nameEnd, value.start, value.end)) return
      }
    }
    if (!residual.endRow()) return
    if (this.#residuals.hasRoom(residual.length)) {
      this.#residuals.append(row, residual.bytes, 0, residual.length)
    } else {
      this.#leaveToRowStore(this.#root)
    }
  }

  finish(): ShreddedColumns {
    const paths: (readonly [readonly string[], PathColumns])[] = []
    const residualPaths: (readonly string[])[] = []
    const visit = (node: ShredNode) => {
      const columns = node.builder.finish()
      if (columns !== undefined) paths.push([node.path, columns])
      for (const name of node.residualNames) residualPaths.push([...node.path, name])
      for (const child of node.children) visit(child)
    }
    visit(this.#root)
    return {
      paths,
      residual: this.#residuals.finish(),
      residualPaths: this.#residualPathCount > maximumResidualPaths ? undefined : residualPaths,
    }
  }

  /** Returns false when the whole row is left to the row store, which ends the work on it. */
  #field(
    view: RowView,
    nameStart: number,
    nameEnd: number,
    valueStart: number,
    valueEnd: number,
  ): boolean {
    const { bytes } = view
    const residual = this.#residual
    residual.mark()
    this.#hasDuplicate = false
    const node = findChild(this.#root, bytes, nameStart + 1, nameEnd - 1)
    if (node === undefined) {
      this.#addResidual(this.#root, bytes, nameStart, nameEnd, valueStart, valueEnd)
    } else if (node === this.#created && bytes[valueStart] === 0x22) {
      node.lastRow = this.#row
      node.builder.timestamp(this.#row, view.createdMs)
    } else if (bytes[valueStart] !== 0x7b && valueEnd - valueStart > this.#maximumValueBytes + 2) {
      // Known from the row's directory, so that not even its end has to be looked for.
      this.#leaveToRowStore(node)
    } else {
      this.#scanner.start(bytes, valueStart)
      this.#value(node)
    }
    if (!this.#hasDuplicate && !residual.overflowed) return true
    residual.takeBack()
    this.#leaveToRowStore(node ?? this.#root)
    return node !== undefined
  }

  /** Shreds the value that the scanner is at, and moves past it. */
  #value(node: ShredNode): void {
    const scanner = this.#scanner
    const row = this.#row
    if (node.lastRow === row) {
      // Only the last of duplicates counts; that is for the parser to say, not for columns.
      this.#hasDuplicate = true
      scanner.skipValue()
      return
    }
    node.lastRow = row
    switch (scanner.bytes[scanner.position]) {
      case 0x22:
        this.#string(node)
        break
      case 0x7b:
        this.#object(node)
        break
      case 0x5b:
        this.#json(node)
        break
      case 0x74:
        node.builder.boolean(row, true)
        scanner.position += 4
        break
      case 0x66:
        node.builder.boolean(row, false)
        scanner.position += 5
        break
      case 0x6e:
        node.builder.null(row)
        scanner.position += 4
        break
      default:
        this.#number(node)
    }
  }

  #object(node: ShredNode): void {
    const scanner = this.#scanner
    const { bytes, position } = scanner
    if (bytes[position + 1] === 0x7d) {
      this.#json(node)
      return
    }
    node.builder.object(this.#row)
    this.#residual.enter(node.quotedName)
    scanner.position++
    while (scanner.next() !== 0x7d) {
      const nameStart = scanner.position
      scanner.readString()
      const nameEnd = scanner.position
      scanner.nextValue()
      const child = findChild(node, bytes, nameStart + 1, nameEnd - 1)
      if (child === undefined) {
        const valueStart = scanner.position
        scanner.skipValue()
        this.#addResidual(node, bytes, nameStart, nameEnd, valueStart, scanner.position)
      } else {
        this.#value(child)
      }
    }
    scanner.position++
    this.#residual.leave()
  }

  #string(node: ShredNode): void {
    const scanner = this.#scanner
    const start = scanner.position
    scanner.readString()
    const { bytes, stringStart, stringEnd } = scanner
    const row = this.#row
    if (stringEnd - stringStart > this.#maximumValueBytes) {
      node.builder.stored(row)
      return
    }
    if (!scanner.escaped) {
      if (!node.builder.text(row, bytes, stringStart, stringEnd)) node.builder.stored(row)
      return
    }
    const unescaper = this.#unescaper
    const length = unescaper.unescape(bytes, stringStart, stringEnd)
    const kept =
      length < 0
        ? node.builder.json(row, bytes, start, scanner.position)
        : node.builder.text(row, unescaper.bytes, 0, length)
    if (!kept) node.builder.stored(row)
  }

  #number(node: ShredNode): void {
    const scanner = this.#scanner
    const start = scanner.position
    const value = scanner.readNumber()
    if (!scanner.inexact) {
      node.builder.number(this.#row, value)
    } else if (!node.builder.json(this.#row, scanner.bytes, start, scanner.position)) {
      node.builder.stored(this.#row)
    }
  }

  #json(node: ShredNode): void {
    const scanner = this.#scanner
    const start = scanner.position
    scanner.skipValue()
    const end = scanner.position
    const fits = end - start <= this.#maximumValueBytes
    if (!fits || !node.builder.json(this.#row, scanner.bytes, start, end)) {
      node.builder.stored(this.#row)
    }
  }

  #addResidual(
    parent: ShredNode,
    bytes: Buffer,
    nameStart: number,
    nameEnd: number,
    valueStart: number,
    valueEnd: number,
  ): void {
    this.#residual.member(bytes, nameStart, nameEnd, valueStart, valueEnd)
    if (this.#residualPathCount > maximumResidualPaths) return
    const name = parseName(bytes, nameStart, nameEnd)
    if (parent.residualNames.has(name)) return
    parent.residualNames.add(name)
    this.#residualPathCount++
  }

  #leaveToRowStore(node: ShredNode): void {
    clearBelow(node, this.#row)
    node.builder.stored(this.#row)
    node.lastRow = this.#row
  }
}

function shredNode(
  path: readonly string[],
  children: readonly ChosenPath[],
  rowCount: number,
): ShredNode {
  return {
    path,
    quotedName: Buffer.from(JSON.stringify(path.at(-1) ?? '')),
    children: children.map((child) => shredNode([...path, child.key], child.children, rowCount)),
    builder: new PathBuilder(rowCount),
    lastChild: -1,
    lastRow: -1,
    residualNames: new Set(),
  }
}

/** The child whose name, as JSON between quotes, is `bytes[start .. end]`. */
function findChild(
  node: ShredNode,
  bytes: Buffer,
  start: number,
  end: number,
): ShredNode | undefined {
  const { children } = node
  const count = children.length
  for (let tried = 0, at = node.lastChild + 1; tried < count; tried++, at++) {
    if (at >= count) at = 0
    const child = children[at]!
    if (equalsName(child.quotedName, bytes, start, end)) {
      node.lastChild = at
      return child
    }
  }
  for (let i = start; i < end; i++) {
    // The name may be known, but escaped in another way.
    if (bytes[i] === 0x5c) {
      const name = parseName(bytes, start - 1, end + 1)
      return children.find((child) => child.path.at(-1) === name)
    }
  }
  return undefined
}

function equalsName(quoted: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const length = end - start
  if (quoted.length !== length + 2) return false
  for (let i = 0; i < length; i++) {
    if (quoted[i + 1] !== bytes[start + i]) return false
  }
  return true
}

function parseName(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(Buffer.from(bytes.subarray(start, end)).toString()) as string
}

function clearBelow(node: ShredNode, row: number): void {
  if (node.lastRow !== row) return
  node.builder.clear(row)
  for (const child of node.children) clearBelow(child, row)
}
