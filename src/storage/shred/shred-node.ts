/** Finds which path of a tree the name in a row's bytes means, without decoding it. */
import { decodeUtf8 } from '../../json/utf8.ts'
import { type ByteSource, equalWords } from './text-pool.ts'

/** A node of a tree of paths. */
export interface NamedNode<Child extends NamedNode<Child>> {
  /** Its key as JSON writes it, quotes included. */
  readonly quotedName: ByteSource
  readonly children: readonly Child[]
  /** Index of the child that was found last: rows are alike, so the next name is likely its neighbour's. */
  lastChild: number
  /** Indices of the children by their quoted names in Latin-1; undefined until a guess fails. */
  names: Map<string, number> | undefined
}

/** Children that are tried, from the one after the last, before the name itself is looked up. */
const guesses = 6

/** The child whose quoted name stands at `start`, if it is easily found. */
export function guessChild<Child extends NamedNode<Child>>(
  node: NamedNode<Child>,
  source: ByteSource,
  start: number,
): Child | undefined {
  const { children } = node
  const count = children.length
  const tries = Math.min(guesses, count)
  let at = node.lastChild + 1
  for (let tried = 0; tried < tries; tried++, at++) {
    if (at >= count) at = 0
    const child = children[at]!
    if (startsWith(source, start, child.quotedName)) {
      node.lastChild = at
      return child
    }
  }
  return undefined
}

/** The child whose name, in its quotes, is `bytes[start .. end]`. */
export function findChild<Child extends NamedNode<Child>>(
  node: NamedNode<Child>,
  bytes: Buffer,
  start: number,
  end: number,
): Child | undefined {
  const { children } = node
  if (children.length === 0) return undefined
  node.names ??= new Map(
    children.map(({ quotedName }, index) => [quotedName.bytes.toString('latin1'), index]),
  )
  let index = node.names.get(bytes.toString('latin1', start, end))
  // The name may be known, but escaped in another way.
  if (index === undefined && hasBackslash(bytes, start, end)) {
    const quoted = Buffer.from(JSON.stringify(parseName(bytes, start, end)))
    index = node.names.get(quoted.toString('latin1'))
  }
  if (index === undefined) return undefined
  node.lastChild = index
  return children[index]
}

/** The name whose quoted form is `bytes[start .. end]`. */
export function parseName(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(decodeUtf8(bytes, start, end)) as string
}

/** A quoted name ends with a quote as no other can, so it is whole when all its bytes match. */
function startsWith(source: ByteSource, start: number, name: ByteSource): boolean {
  const { length } = name.bytes
  // Of two names, the lengths differ more often than the beginnings.
  return source.bytes[start + length - 1] === 0x22 && equalWords(source, start, name, 0, length)
}

function hasBackslash(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === 0x5c) return true
  return false
}
