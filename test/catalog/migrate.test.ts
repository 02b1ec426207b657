import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Catalog } from '../../src/catalog/catalog.ts'
import { openRecords } from '../../src/storage/environment.ts'

const created = (day: number) => `2026-01-0${day}T00:00:00.000Z`

test('a directory of the first form keeps opening, with everything in its order', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'assay-migrate-'))
  const records = openRecords(directory, { readOnly: false })
  const put = (key: string, value: unknown) =>
    records.catalog.putSync(Buffer.from(key), Buffer.from(JSON.stringify(value)))
  await put('organization/o', { id: 'o', name: 'default', created: created(1) })
  const user = { org_id: 'o', given_name: 'owner', family_name: null, email: null }
  await put('user/u', { id: 'u', ...user, created: created(1) })
  const key = { org_id: 'o', user_id: 'u', name: 'k', preview_name: 'sk', hash: 'h' }
  await put('api_key/b', { id: 'b', ...key, created: created(2) })
  await put('api_key/a', { id: 'a', ...key, created: created(3) })
  const project = { id: 'p', org_id: 'o', name: 'p', created: created(1), deleted_at: null }
  await put('project/p', { number: 1, entry: project })
  const dataset = { id: 'd', project_id: 'p', name: 'd', created: created(1), url_slug: 'd-1' }
  await put('dataset/d', { number: 2, entry: { ...dataset, deleted_at: null } })
  const gone = { ...dataset, id: 'e', name: 'e', deleted_at: created(2) }
  await put('dataset/e', { number: 3, entry: gone })
  await put('last_number', 3)

  for (let opened = 0; opened < 2; opened++) {
    const catalog = new Catalog(records)
    expect(catalog.get('organization', 'o')).toMatchObject({ name: 'default', api_url: null })
    expect(catalog.get('user', 'u')).toMatchObject({ is_service_account: false })
    expect(catalog.named('member', 'o', 'u')).toMatchObject({ given_name: 'owner' })
    expect(Array.from(catalog.list('api_key'), ({ id }) => id)).toEqual(['a', 'b'])
    expect(catalog.object('dataset', 'd')).toMatchObject({ number: 2, organizationId: 'o' })
    expect(catalog.get('dataset', 'e')).toBeUndefined()
    expect(catalog.get('project', 'p')).toMatchObject({ settings: null })
  }
  await records.root.close()
  rmSync(directory, { recursive: true })
})
