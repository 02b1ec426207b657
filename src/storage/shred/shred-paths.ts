/**
 * Chooses the paths that become columns, from a sample of the rows.
 *
 * A path is chosen when it occurs in at least 2% of the rows, or of the rows of some object that has
 * 64 or more here: a field that every row of one experiment has must not go under among others. Of the
 * record's own fields, as `error`, 0.2% are enough. Of
 * more than 256 such paths the most frequent are taken. A parent is at least as frequent as what is
 * below it and comes first among equals, so the parents of a chosen path are chosen too.
 *
 * The choice decides only where a value is kept, never what is read back.
 */
import { fieldNameBytes, type RowView } from '../row/row.ts'
import { findChild, guessChild, type NamedNode, parseName } from './shred-node.ts'
import { ValueScanner } from './shred-scan.ts'
import { byteSource } from './text-pool.ts'

/** Steps that a column's path may have. What nests deeper stays JSON. */
export const maximumPathLength = 16

const maximumPaths = 256
/** Fields of the record are few, and are asked for by themselves. */
const shares = { field: 0.002, member: 0.02 }
export const minimumObjectRows = 64

/** Rows sampled, and of each object at least so many of them. */
const sampleRows = 1024
const sampleObjectRows = 64

/** Paths counted at a time, so that keys that never repeat cannot fill the memory. */
const maximumCounted = 16_384

export interface ChosenPath {
  readonly key: string
  readonly children: readonly ChosenPath[]
}

/** Rows `from` to `to` of a set belong to one object. */
export interface ObjectRun {
  readonly from: number
  readonly to: number
}

export function choosePaths(
  runs: readonly ObjectRun[],
  rowAt: (row: number) => RowView,
  fields: ReadonlySet<string> | undefined,
): readonly ChosenPath[] {
  const rowCount = runs.at(-1)?.to ?? 0
  const counter = new PathCounter(fields)
  for (const { from, to } of runs) {
    const rows = to - from
    const share = Math.ceil((sampleRows * rows) / rowCount)
    const stride = Math.max(1, Math.floor(rows / Math.max(share, sampleObjectRows)))
    // Rows often repeat in a rhythm, the spans of a trace for one; an even stride could miss some.
    let random = rows
    for (let start = from; start < to; start += stride) {
      random = (Math.imul(random, 1103515245) + 12345) >>> 0
      const row = Math.min(start + ((random >>> 8) % stride), to - 1)
      counter.count(rowAt(row), stride)
    }
    counter.endRun(rows)
  }
  return counter.choose(rowCount)
}

/** In which share of the rows a path must occur, by how many steps it has. */
export function minimumShare(depth: number): number {
  return depth === 1 ? shares.field : shares.member
}

interface Candidate {
  readonly key: string
  readonly depth: number
  readonly estimate: number
}

/** As many as may become columns; a parent before what is below it. */
export function mostFrequent<Path extends Candidate>(candidates: readonly Path[]): Path[] {
  // The one time among the columns must not be among the texts of a residual.
  const isTime = ({ key, depth }: Path) => key === 'created' && depth === 1
  return [...candidates]
    .sort(
      (a, b) =>
        Number(isTime(b)) - Number(isTime(a)) || b.estimate - a.estimate || a.depth - b.depth,
    )
    .slice(0, maximumPaths)
}

interface CountedPath extends NamedNode<CountedPath> {
  readonly key: string
  readonly depth: number
  children: CountedPath[]
  /** Rows of the whole set that have it, as the sample lets expect. */
  estimate: number
  /** Sampled rows of the present object that have it. */
  inRun: number
  lastSample: number
  frequentInRun: boolean
}

/** Counts the paths of sampled rows: those of one object after the other, each a run. */
export class PathCounter {
  readonly #fields: ReadonlySet<string> | undefined
  readonly #scanner = new ValueScanner()
  readonly #root = countedPath('', 0)
  #counted = 0
  #full = false
  #sample = 0
  #sampledInRun = 0
  #estimatedRows = 0
  #touched = new Set<CountedPath>()

  constructor(fields: ReadonlySet<string> | undefined) {
    this.#fields = fields
  }

  /** Counts the paths of a row that stands for `weight` rows. */
  count(row: RowView, weight: number): void {
    this.#sample++
    this.#sampledInRun++
    this.#estimatedRows += weight
    // With more rows seen, more paths turn out to be rare.
    if (this.#full && this.#sample % 256 === 0) this.#prune()
    this.#scanner.start(row.bytes)
    if (this.#fields !== undefined) {
      for (const name of this.#fields) {
        const value = row.field(name)
        if (value === undefined) continue
        const nameEnd = value.start - 1
        this.#countField(nameEnd - fieldNameBytes(name).length, nameEnd, weight)
      }
      return
    }
    for (let i = 0; i < row.fieldCount; i++) {
      const start = row.memberStart(i)
      this.#countField(start, start + row.nameLength(i), weight)
    }
  }

  /** @param rows how many the run has, with those that were not counted */
  endRun(rows: number): void {
    for (const path of this.#touched) {
      if (
        rows >= minimumObjectRows &&
        path.inRun >= this.#sampledInRun * minimumShare(path.depth)
      ) {
        path.frequentInRun = true
      }
      path.inRun = 0
    }
    this.#touched.clear()
    this.#sampledInRun = 0
    this.#full = false
  }

  /** Those of `rowCount` rows that become columns. */
  choose(rowCount: number): readonly ChosenPath[] {
    const candidates: CountedPath[] = []
    const collect = (path: CountedPath) => {
      for (const child of path.children) {
        if (child.frequentInRun || child.estimate >= rowCount * minimumShare(child.depth)) {
          candidates.push(child)
          collect(child)
        }
      }
    }
    collect(this.#root)
    const chosen = new Set(mostFrequent(candidates))
    const build = (path: CountedPath): ChosenPath[] =>
      path.children
        .filter((child) => chosen.has(child))
        .map((child) => ({ key: child.key, children: build(child) }))
    return build(this.#root)
  }

  #countField(nameStart: number, nameEnd: number, weight: number): void {
    const path = this.#child(this.#root, nameStart, nameEnd)
    if (path === undefined) return
    this.#countPath(path, weight)
    // The row's directory knows where other values end.
    if (this.#scanner.bytes[nameEnd + 1] === 0x7b) this.#countMembers(path, nameEnd + 1, weight)
  }

  #countPath(path: CountedPath, weight: number): void {
    if (path.lastSample === this.#sample) return
    path.lastSample = this.#sample
    path.estimate += weight
    path.inRun++
    this.#touched.add(path)
  }

  /** Counts the paths below that of the object at `start`, and returns where it ends. */
  #countMembers(path: CountedPath, start: number, weight: number): number {
    const scanner = this.#scanner
    const { bytes } = scanner
    if (path.depth === maximumPathLength) return scanner.endOfValue(start)
    let position = start + 1
    for (;;) {
      const nameStart = scanner.skipSeparators(position)
      if (bytes[nameStart] === 0x7d) return nameStart + 1
      const nameEnd = scanner.endOfString(nameStart)
      const valueStart = scanner.skipColon(nameEnd)
      const child = this.#child(path, nameStart, nameEnd)
      if (child !== undefined) this.#countPath(child, weight)
      if (child !== undefined && bytes[valueStart] === 0x7b) {
        position = this.#countMembers(child, valueStart, weight)
      } else {
        position = scanner.endOfValue(valueStart)
      }
    }
  }

  /** Undefined when no more paths can be counted. */
  #child(parent: CountedPath, nameStart: number, nameEnd: number): CountedPath | undefined {
    const { bytes } = this.#scanner
    const known =
      guessChild(parent, this.#scanner, nameStart) ?? findChild(parent, bytes, nameStart, nameEnd)
    if (known !== undefined || this.#full) return known
    const child = countedPath(parseName(bytes, nameStart, nameEnd), parent.depth + 1)
    parent.names?.set(child.quotedName.bytes.toString('latin1'), parent.children.length)
    parent.children.push(child)
    this.#counted++
    if (this.#counted >= maximumCounted) this.#prune()
    return child
  }

  /** Forgets the paths that are far from being chosen. */
  #prune(): void {
    const hopeless = (path: CountedPath) =>
      !path.frequentInRun &&
      path.estimate * 2 < this.#estimatedRows * minimumShare(path.depth) &&
      path.inRun * 2 < this.#sampledInRun * minimumShare(path.depth)
    let left = 0
    const visit = (path: CountedPath) => {
      path.children = path.children.filter((child) => !hopeless(child))
      path.names = undefined
      left += path.children.length
      for (const child of path.children) visit(child)
    }
    visit(this.#root)
    this.#counted = left
    this.#full = left > maximumCounted / 2
  }
}

function countedPath(key: string, depth: number): CountedPath {
  return {
    key,
    quotedName: byteSource(Buffer.from(JSON.stringify(key))),
    depth,
    children: [],
    lastChild: -1,
    names: undefined,
    estimate: 0,
    inRun: 0,
    lastSample: 0,
    frequentInRun: false,
  }
}
