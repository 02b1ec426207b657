import type { Catalog } from '../catalog/catalog.ts'
import type { Authenticator } from './authenticate.ts'

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
  const [firstKey] = [...catalog.apiKeys()].sort((a, b) => (a.created < b.created ? -1 : 1))
  const existingOwner = firstKey && catalog.user(firstKey.user_id)
  if (existingOwner && givenKey === undefined) return undefined

  const owner = existingOwner ?? (await createOwner(catalog))
  const { text } = await authenticator.issueKey(owner, 'owner', givenKey)
  return givenKey === undefined ? text : undefined
}

async function createOwner(catalog: Catalog) {
  const [existing] = catalog.organizations()
  const organization = existing ?? (await catalog.createOrganization('default'))
  return catalog.createUser(organization.id, 'owner')
}
