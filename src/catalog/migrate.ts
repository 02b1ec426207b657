/** Brings the catalog of an older data directory into today's form, once, before it is read. */
import { randomUUID } from 'node:crypto'
import type { RecordsEnvironment } from '../storage/environment.ts'
import { parseExactJson } from '../type/exact-json.ts'
import { type EntryKind, entrySchemas } from './entry.ts'
import { jsonBytes, rangeOf } from './entry-store.ts'

const formatKey = Buffer.from('catalog_format')
export const catalogFormat = '2'

/** The kinds that the first form had. */
const firstKinds = [
  'organization',
  'user',
  'api_key',
  'project',
  'experiment',
  'dataset',
  'prompt_session',
] as const

type Values = { readonly [field: string]: unknown }

export function migrate(records: RecordsEnvironment): void {
  const { root, catalog } = records
  if (catalog.has(formatKey)) return
  root.transactionSync(() => {
    const lastNumber = Number(catalog.get(Buffer.from('last_number'))?.toString() ?? 0)
    let sequence = lastNumber
    const put = (kind: EntryKind, values: Values, more: object) => {
      const shape = Object.keys(entrySchemas[kind].shape)
      const entry = Object.fromEntries(shape.map((field) => [field, values[field] ?? null]))
      const stored = jsonBytes({ sequence: ++sequence, ...more, entry })
      catalog.putSync(Buffer.from(`${kind}/${String(entry.id)}`), stored)
    }
    for (const kind of firstKinds) {
      const found = Array.from(
        catalog.getRange(rangeOf(`${kind}/`)),
        ({ value }) => parseExactJson(value.toString()) as Values,
      )
      for (const value of found.sort(byCreation)) {
        if (kind === 'user' && typeof value.org_id === 'string') {
          put(kind, { ...value, is_service_account: false }, {})
          put('member', { ...value, id: randomUUID(), user_id: value.id }, {})
        } else if ('number' in value) {
          // Numbers were given in the order of creation.
          put(kind, value.entry as Values, { sequence: value.number, number: value.number })
        } else put(kind, value, {})
      }
    }
    catalog.putSync(Buffer.from('last_sequence'), Buffer.from(String(sequence)))
    catalog.putSync(formatKey, Buffer.from(catalogFormat))
  })
}

function byCreation(a: Values, b: Values): number {
  return String(a.created) < String(b.created) ? -1 : 1
}
