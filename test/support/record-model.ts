/** Requests that write records, and a naive store that says what comes of them. */
import fc from 'fast-check'
import { toObject } from './arbitrary-value.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type Fields = Map<string, Json>
/** What a naive store holds: the fields of each record by id. */
export type Model = Map<string, Fields>

export interface Row {
  readonly id: string
  readonly action: 'replace' | 'merge' | 'delete'
  readonly fields: Fields
  readonly mergePaths: readonly (readonly string[])[]
}

export const fieldNames = [
  'input',
  'metadata',
  'tags',
  'extra',
  'output',
  'constructor',
  '__proto__',
]
const keys = ['a', 'b', '', '__proto__', 'constructor', 'prototype', 'toString']

const leaf = fc.constantFrom<Json>(null, true, 0, 1.5, 'x', 'é', [], [1, 'x'])
const { tree } = fc.letrec<{ tree: Json; branch: Json }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, leaf, tie('branch')),
  branch: fc.dictionary(fc.constantFrom(...keys), tie('tree'), { noNullPrototype: true }),
}))
const tags = fc.option(fc.array(fc.constantFrom('t', 'u', 'v'), { maxLength: 3 }))
const metadata = fc.option(fc.dictionary(fc.constantFrom(...keys), tree, { noNullPrototype: true }))

const fields = fc
  .record(
    {
      input: tree,
      metadata,
      tags,
      extra: tree,
      output: leaf,
      constructor: tree,
      ['__proto__']: leaf,
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((record) => new Map(Object.entries(record) as [string, Json][]))

export const row: fc.Arbitrary<Row> = fc.record({
  id: fc.constantFrom('r', 's', 't'),
  action: fc.constantFrom('replace', 'merge', 'merge', 'delete'),
  fields,
  mergePaths: fc.array(
    fc.array(fc.constantFrom(...fieldNames, ...keys), { minLength: 1, maxLength: 3 }),
    { maxLength: 2 },
  ),
})

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function merge(base: Json, patch: Json, path: string[], stops: Row['mergePaths']): Json {
  const isStop = stops.some((stop) => stop.join('\0') === path.join('\0'))
  if (isStop) return patch
  if (path.length === 1 && path[0] === 'tags' && Array.isArray(base) && Array.isArray(patch)) {
    return [...new Set([...base, ...patch])]
  }
  if (!isObject(base) || !isObject(patch)) return patch
  const merged = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(patch)) {
    const had = merged.get(key)
    merged.set(key, had === undefined ? value : merge(had, value, [...path, key], stops))
  }
  return toObject([...merged]) as Json
}

export function apply(model: Model, { id, action, fields, mergePaths }: Row): void {
  const base = model.get(id)
  if (action === 'delete') {
    model.delete(id)
  } else if (action === 'merge' && base) {
    const merged = new Map(base)
    for (const [name, value] of fields) {
      const has = merged.has(name)
      merged.set(name, has ? merge(merged.get(name)!, value, [name], mergePaths) : value)
    }
    model.set(id, withoutNulls(merged))
  } else {
    model.set(id, withoutNulls(fields))
  }
}

function withoutNulls(fields: Fields): Fields {
  return new Map([...fields].filter(([, value]) => value !== null))
}

export function toJson({ id, action, fields, mergePaths }: Row): object {
  return {
    id,
    ...Object.fromEntries(fields),
    ...(action === 'merge' && { _is_merge: true, _merge_paths: mergePaths }),
    ...(action === 'delete' && { _object_delete: true }),
  }
}

export function fieldsOf(text: (name: string) => string | undefined): Fields {
  const found: Fields = new Map()
  for (const name of fieldNames) {
    const json = text(name)
    if (json !== undefined) found.set(name, JSON.parse(json) as Json)
  }
  return found
}

export function sorted(model: Model): unknown {
  return [...model]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, found]) => [id, fieldNames.map((name) => found.get(name))])
}
