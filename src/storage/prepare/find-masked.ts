/** What masking rules would make of rows that are stored already. */
import { readMembers } from '../../json/members.ts'
import { JsonScanner, jsonKind } from '../../json/scan.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { Edits } from '../../masking/edits.ts'
import type { ObjectReference } from '../../type/record.ts'
import { eachRow, maskerOf, objectKey, type RowMasking } from './mask-body.ts'

export interface MaskedExample {
  readonly id: string
  /** `input[0].content` */
  readonly path: string
  /** What is replaced, and what by, as JSON spells both; long texts are cut. */
  readonly before: string
  readonly after: string
}

export interface FoundMasked {
  readonly rows: number
  readonly changedRows: number
  readonly values: number
  /** Values by the place of their rule. */
  readonly byRule: readonly number[]
  readonly examples: readonly MaskedExample[]
  /** JSON texts of merges that would change the rows so. */
  readonly merges: readonly string[]
}

const longestExample = 200

/** Fields that the service writes, which no merge changes. */
const ownFields: ReadonlySet<string> = new Set(['audit_data'])

/** @param body `{"events": [...]}`: rows of the object as queries give them */
export function findMasked(
  body: Uint8Array,
  object: ObjectReference,
  masking: RowMasking,
  mostExamples: number,
): FoundMasked {
  const set = masking.setOf[objectKey(object)] ?? 0
  const masker = maskerOf(masking, set)
  const byRule: number[] = masking.sets[set]!.rules.map(() => 0)
  const examples: MaskedExample[] = []
  const merges: string[] = []
  let rows = 0
  let values = 0
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  eachRow(body, { form: 'events', object }, (start) => {
    rows++
    const edits = new Edits()
    masker.begin(body, edits)
    const end = masker.row(start, object.type === 'dataset')
    if (edits.length === 0) return end
    const before = fieldsOf(bytes, start, end)
    const merge = mergeOf(before, edits.apply(body, start, end))
    if (merge === undefined) return end
    merges.push(merge)
    values += edits.length
    for (let i = 0; i < edits.length; i++) {
      byRule[edits.ruleAt(i)]!++
      if (examples.length >= mostExamples) continue
      const [from, to] = [edits.startAt(i), edits.endAt(i)]
      examples.push({
        id: JSON.parse(before.get('id') ?? '""') as string,
        path: pathAt(bytes, start, end, from),
        before: decodeUtf8(bytes, from, Math.min(to, from + longestExample)),
        after: edits.textAt(i).slice(0, longestExample),
      })
    }
    return end
  })
  masker.end()
  return { rows, changedRows: merges.length, values, byRule, examples, merges }
}

/** The fields that differ, as a merge; undefined where none does that could be written. */
function mergeOf(before: ReadonlyMap<string, string>, masked: Buffer): string | undefined {
  const after = fieldsOf(masked, 0, masked.length)
  const names = new Set([...before.keys(), ...after.keys()])
  const changed = [...names].filter((name) => {
    return !ownFields.has(name) && before.get(name) !== after.get(name)
  })
  if (changed.length === 0) return undefined
  const paths = JSON.stringify(changed.map((name) => [name]))
  const fields = changed.map((name) => `${JSON.stringify(name)}:${after.get(name) ?? 'null'}`)
  const head = `{"id":${before.get('id')},"_is_merge":true,"_audit_source":"masking"`
  return `${head},"_merge_paths":${paths},${fields.join()}}`
}

/** The members of an object, by name, as they are spelled. */
function fieldsOf(bytes: Buffer, start: number, end: number): Map<string, string> {
  return new Map(Array.from(readMembers(bytes, start, end), ({ name, value }) => [name, value]))
}

/** The path of the member or element that a place in a row is in. */
function pathAt(bytes: Buffer, start: number, end: number, place: number): string {
  let path = ''
  let from = start
  for (;;) {
    const scanner = new JsonScanner(bytes, from, end)
    const kind = jsonKind(scanner.peek())
    if (kind !== 'object' && kind !== 'array') return path
    const part = kind === 'object' ? memberAt(scanner, place) : elementAt(scanner, place)
    if (!part) return path
    path += part.name.startsWith('[') || path === '' ? part.name : `.${part.name}`
    if (place < part.value) return path
    from = part.value
  }
}

interface Part {
  readonly name: string
  readonly value: number
}

function memberAt(scanner: JsonScanner, place: number): Part | undefined {
  scanner.openObject()
  while (scanner.nextMember()) {
    const { bytes, keyStart, keyEnd } = scanner
    const value = scanner.value()
    if (place >= scanner.position) continue
    const name = JSON.parse(decodeUtf8(bytes, keyStart, keyEnd)) as string
    return { name: /^[\p{L}\p{N}_]+$/u.test(name) ? name : JSON.stringify(name), value }
  }
  return undefined
}

function elementAt(scanner: JsonScanner, place: number): Part | undefined {
  scanner.openArray()
  for (let index = 0; scanner.nextElement(); index++) {
    const value = scanner.value()
    if (place < scanner.position) return { name: `[${index}]`, value }
  }
  return undefined
}
