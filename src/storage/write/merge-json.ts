/**
 * Merges JSON texts: objects deeply, anything else by replacing. What a merge does not touch keeps
 * its exact text, numbers of any length among it.
 */
import type { ByteWriter } from '../../json/byte-writer.ts'
import { JsonScanner } from '../../json/scan.ts'
import { parseJsonBytes } from '../../type/parse-json.ts'
import { canonicalJson } from '../../type/write-json.ts'
import type { ArrayDelete } from '../row/prepared-rows.ts'
import type { ByteSpan } from '../row/row.ts'

/** A valid JSON text within bytes. */
export interface JsonText extends ByteSpan {
  readonly bytes: Uint8Array
}

/** Where a merge replaces instead of going deeper: the end of a path, or what lies below. */
export interface MergeStops {
  stopsHere: boolean
  readonly below: Map<string, MergeStops>
}

const openBrace = 0x7b

export function mergeStops(paths: readonly (readonly string[])[]): MergeStops {
  const root: MergeStops = { stopsHere: false, below: new Map() }
  for (const path of paths) {
    let node = root
    for (const key of path) {
      let next = node.below.get(key)
      if (!next) {
        next = { stopsHere: false, below: new Map() }
        node.below.set(key, next)
      }
      node = next
    }
    node.stopsHere = true
  }
  return root
}

/** Appends `patch` merged into `base`. Recurses no deeper than stored JSON may nest. */
export function mergeJson(
  base: JsonText,
  patch: JsonText,
  stops: MergeStops | undefined,
  out: ByteWriter,
): void {
  const areObjects = base.bytes[base.start] === openBrace && patch.bytes[patch.start] === openBrace
  if (!areObjects || stops?.stopsHere) {
    out.copy(patch.bytes, patch.start, patch.end)
    return
  }
  const baseMembers = membersOf(base)
  const patchMembers = membersOf(patch)
  out.byte(openBrace)
  let count = 0
  for (const [key, member] of baseMembers) {
    if (count++ > 0) out.byte(0x2c)
    out.copy(base.bytes, member.nameStart, member.start)
    const change = patchMembers.get(key)
    if (change) mergeJson(member, change, stops?.below.get(key), out)
    else out.copy(base.bytes, member.start, member.end)
  }
  for (const [key, member] of patchMembers) {
    if (baseMembers.has(key)) continue
    if (count++ > 0) out.byte(0x2c)
    out.copy(patch.bytes, member.nameStart, member.end)
  }
  out.byte(0x7d)
}

/** Appends the array `base` and the elements of the array `patch` that it lacks. */
export function uniteArrays(base: JsonText, patch: JsonText, out: ByteWriter): void {
  const seen = new Set<string>()
  out.byte(0x5b)
  for (const text of [base, patch]) {
    for (const element of elementsOf(text)) {
      const identity = identityOf(element)
      if (seen.has(identity)) continue
      if (seen.size > 0) out.byte(0x2c)
      seen.add(identity)
      out.copy(element.bytes, element.start, element.end)
    }
  }
  out.byte(0x5d)
}

/**
 * Appends `text` without the elements that `deletes` name; their paths are followed from `depth`
 * on. A path that leads to no array changes nothing.
 */
export function deleteElements(
  text: JsonText,
  deletes: readonly ArrayDelete[],
  depth: number,
  out: ByteWriter,
): void {
  const here = deletes.filter(({ path }) => path.length === depth)
  const below = deletes.filter(({ path }) => path.length > depth)
  const first = text.bytes[text.start]
  let count = 0
  if (first === 0x5b && here.length > 0) {
    const removed = new Set(here.flatMap(({ values }) => values))
    out.byte(0x5b)
    for (const element of elementsOf(text)) {
      if (removed.has(identityOf(element))) continue
      if (count++ > 0) out.byte(0x2c)
      out.copy(element.bytes, element.start, element.end)
    }
    out.byte(0x5d)
  } else if (first === openBrace && below.length > 0) {
    out.byte(openBrace)
    for (const [key, member] of membersOf(text)) {
      if (count++ > 0) out.byte(0x2c)
      out.copy(text.bytes, member.nameStart, member.start)
      const deeper = below.filter(({ path }) => path[depth] === key)
      deleteElements(member, deeper, depth + 1, out)
    }
    out.byte(0x7d)
  } else {
    out.copy(text.bytes, text.start, text.end)
  }
}

interface Member extends JsonText {
  /** Where the name and its quotes start; the value follows the colon. */
  readonly nameStart: number
}

/** The members of an object by name, each where its last value is. */
function membersOf(text: JsonText): Map<string, Member> {
  const members = new Map<string, Member>()
  const scanner = new JsonScanner(text.bytes, text.start, text.end)
  scanner.openObject()
  while (scanner.nextMember()) {
    const { keyStart, keyEnd } = scanner
    const start = scanner.value()
    const name = parseJsonBytes(text.bytes, keyStart, keyEnd) as string
    members.set(name, { bytes: text.bytes, nameStart: keyStart, start, end: scanner.position })
  }
  return members
}

function* elementsOf(text: JsonText): Generator<JsonText> {
  const scanner = new JsonScanner(text.bytes, text.start, text.end)
  scanner.openArray()
  while (scanner.nextElement()) {
    const start = scanner.value()
    yield { bytes: text.bytes, start, end: scanner.position }
  }
}

function identityOf(text: JsonText): string {
  return canonicalJson(parseJsonBytes(text.bytes, text.start, text.end))
}
