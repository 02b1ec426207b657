/** From a record of a file to an event, as the service takes it. */
import { recordColumns } from '../type/record.ts'
import { isJson, numberJson } from './column-types.ts'
import { type FileRecord, reasonOf } from './file-record.ts'

/** What becomes of a column of a file. */
export type Target = 'id' | 'input' | 'expected' | 'metadata' | 'tags' | 'as it is' | 'nothing'

export interface EventForm {
  /** Whether the file is a table: nested fields have columns of their own (`metadata.model`), or are JSON texts. */
  readonly isTable: boolean
  readonly targetOf: (column: string) => Target
}

export interface Event {
  /** Undefined where the record has none. */
  readonly id: string | undefined
  /** JSON. */
  readonly text: string
}

/** Where a record was exported from, and what it was there. It is imported to somewhere else. */
const places: ReadonlySet<string> = new Set([
  ...recordColumns.filter(({ origin }) => origin !== 'stored').map(({ name }) => name),
  'is_root',
])

const columnsByName = new Map(recordColumns.map((column) => [column.name, column]))

/** Whether a column is known to be an object or an array. */
function isStructured(name: string): boolean {
  const type = columnsByName.get(name)?.type
  return type === 'object' || type === 'array'
}

/** Whatever is in these is a number. */
const numeric: ReadonlySet<string> = new Set(['scores', 'metrics'])

/** A field of an event: a value, members, or both. */
interface Field {
  whole?: string
  readonly members: [name: string, json: string][]
}

/** Throws with what is wrong with the record. */
export function eventOf(record: FileRecord, form: EventForm): Event {
  const id = idOf(record, form)
  const tags = record.values.get('tags')
  if (tags !== undefined && form.targetOf('tags') !== 'nothing') checkTags(tags)
  const isSame = record.text !== undefined && isKept(record, form)
  if (isSame && (id === undefined || record.values.get('id')?.startsWith('"'))) {
    return { id, text: record.text! }
  }
  const fields = new Map<string, Field>()
  for (const [column, json] of record.values) {
    const place = placeOf(column, record, form)
    if (!place) continue
    const { name, member } = place
    const field = fields.get(name) ?? { members: [] }
    fields.set(name, field)
    const value = form.isTable || name === 'tags' ? typed(column, json, name, member) : json
    if (value === undefined) continue
    if (member === undefined) field.whole = value
    else field.members.push([member, value])
  }
  const parts: string[] = id === undefined ? [] : [`"id":${JSON.stringify(id)}`]
  for (const [name, field] of fields) {
    const json = fieldJson(name, field)
    if (json !== undefined) parts.push(`${JSON.stringify(name)}:${json}`)
  }
  return { id, text: `{${parts.join(',')}}` }
}

function isKept({ values }: FileRecord, { targetOf }: EventForm): boolean {
  for (const [column, json] of values) {
    const target = targetOf(column)
    if (target !== 'as it is' && target !== column) return false
    if (places.has(column) || (column === 'tags' && json.startsWith('"'))) return false
  }
  return true
}

/** The text of a number is an id, too. */
function idOf({ values }: FileRecord, { targetOf }: EventForm): string | undefined {
  for (const [column, json] of values) {
    const target = targetOf(column)
    if (target !== 'id' && !(target === 'as it is' && column === 'id')) continue
    if (json === '""') continue
    if (json.startsWith('"')) return JSON.parse(json) as string
    if (/^[-\d]/.test(json)) return json
    throw new Error(`its "${column}" is neither a text nor a number`)
  }
  return undefined
}

/** The field of an event that a column goes to; undefined for none. */
function placeOf(
  column: string,
  { values }: FileRecord,
  { isTable, targetOf }: EventForm,
): { readonly name: string; readonly member?: string } | undefined {
  const target = targetOf(column)
  const dot = column.indexOf('.')
  const first = dot < 0 ? column : column.slice(0, dot)
  const isMember = isTable && dot > 0 && dot < column.length - 1 && isStructured(first)
  switch (target) {
    case 'nothing':
    case 'id':
      return undefined
    case 'as it is':
      if (column === 'id' || places.has(column)) return undefined
      return isMember ? { name: first, member: column.slice(dot + 1) } : { name: column }
    case 'tags':
      return { name: target }
    case 'metadata':
      if (column === 'metadata') return { name: target }
      if (isMember && first === target) return { name: target, member: column.slice(dot + 1) }
      return { name: target, member: column }
    default: {
      let count = 0
      for (const each of values.keys()) if (targetOf(each) === target) count++
      return count === 1 ? { name: target } : { name: target, member: column }
    }
  }
}

/** The value of a cell of a table: what must be an object, an array or a number may be the text of one. */
function typed(
  column: string,
  json: string,
  name: string,
  member: string | undefined,
): string | undefined {
  if (!json.startsWith('"')) {
    const isText = columnsByName.get(name)?.type === 'string' && member === undefined
    return isText && /^[-\dtf]/.test(json) ? JSON.stringify(json) : json
  }
  const isKnown = columnsByName.has(name) && columnsByName.get(name)!.type !== 'json'
  if (json === '""' && isKnown && member === undefined) return undefined
  if (member !== undefined && !numeric.has(name)) return json
  const text = JSON.parse(json) as string
  try {
    if (numeric.has(name) && member !== undefined) return numberJson(text)
    if (name === 'tags' && !/^\s*[[{]/.test(text)) return tagsOf(text)
    if (!isStructured(name)) return json
    if (isJson(text)) return text.trim()
    throw new Error(`not JSON: ${text.slice(0, 40)}`)
  } catch (error) {
    throw new Error(`its "${column}" is ${reasonOf(error)}`)
  }
}

/** They are texts, or one text. */
function checkTags(json: string): void {
  if (json.startsWith('"')) return
  const tags: unknown = JSON.parse(json)
  if (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')) return
  throw new Error('its "tags" are not texts')
}

/** Tags in a text have commas between them. */
function tagsOf(text: string): string {
  const tags = text.split(',').map((tag) => tag.trim())
  return JSON.stringify([...new Set(tags.filter((tag) => tag !== ''))])
}

function fieldJson(name: string, { whole, members }: Field): string | undefined {
  if (members.length === 0) return whole
  const texts = members.map(([member, json]) => `${JSON.stringify(member)}:${json}`)
  if (whole === undefined) return `{${texts.join(',')}}`
  if (!whole.startsWith('{')) {
    throw new Error(`its "${name}" is no object, and "${name}.${members[0]![0]}" would be in it`)
  }
  const inside = whole.slice(1, -1).trim()
  return `{${[...(inside === '' ? [] : [inside]), ...texts].join(',')}}`
}

const usualNames: Readonly<Record<string, Target>> = {
  id: 'id',
  input: 'input',
  inputs: 'input',
  question: 'input',
  prompt: 'input',
  expected: 'expected',
  output: 'expected',
  answer: 'expected',
  ideal: 'expected',
  reference: 'expected',
  target: 'expected',
  metadata: 'metadata',
  tags: 'tags',
}

/**
 * What is proposed for a column of a file that becomes records of a dataset. Columns of a usual name are what they
 * are called, fields of records stay what they are; of CSV all others become metadata.
 */
export function usualTarget(column: string, isCsv: boolean): Target {
  if (places.has(column)) return 'nothing'
  const name = column.trim().toLowerCase()
  if (Object.hasOwn(usualNames, name)) return usualNames[name]!
  const isField = columnsByName.has(column.split('.', 1)[0]!)
  return isCsv && !isField ? 'metadata' : 'as it is'
}
