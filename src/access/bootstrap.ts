import { system } from '../catalog/audit-trail.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Authenticator, KeyOwner } from './authenticate.ts'

/**
 * Gives an empty catalog an organization, its owner and the owner's key.
 *
 * Returns the text of a key that was made up here, which has to be shown now; undefined when the
 * key was given, or when the catalog already has an owner. A given key is added to the owner's if
 * it is not one of them, so that it can be changed from one start to the next.
 */
export async function bootstrap(
  catalog: Catalog,
  authenticator: Authenticator,
  givenKey: string | undefined,
): Promise<string | undefined> {
  const [firstKey] = [...catalog.list('api_key')].reverse()
  const existing = firstKey && catalog.get('user', firstKey.user_id) && firstKey
  if (existing && givenKey === undefined) return undefined

  const owner = existing ?? (await createOwner(catalog))
  const { user_id, org_id } = owner
  const { text } = await authenticator.issueKey({ user_id, org_id }, 'owner', givenKey)
  return givenKey === undefined ? text : undefined
}

function createOwner(catalog: Catalog): Promise<KeyOwner> {
  return catalog.change(system, (change) => {
    const [existing] = catalog.list('organization')
    const organization = existing ?? change.create('organization', { name: 'default' })
    const user = change.create('user', { given_name: 'owner' })
    const owner = { org_id: organization.id, user_id: user.id }
    change.create('member', owner)
    return owner
  })
}
