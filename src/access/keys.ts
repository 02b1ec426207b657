/** Keys and tokens of the principal's organization: making them. They are listed and revoked like other entries. */
import type { Catalog } from '../catalog/catalog.ts'
import type { ApiKey } from '../catalog/entry.ts'
import { missingAccess } from '../catalog/missing-access.ts'
import { AssayError } from '../error.ts'
import type { AccessIndex } from './access-index.ts'
import { guardedChange } from './guarded-change.ts'
import { keyExpiryMs } from './key-expiry.ts'
import { hashKey, newKeyText, previewKey } from './key-ring.ts'
import type { Rights } from './rights.ts'
import { addServiceToken, type IssuedToken } from './service-token.ts'

export interface IssuedKey {
  readonly key: ApiKey
  /** Shown now and never again. */
  readonly text: string
}

export class Keys {
  readonly #catalog: Catalog
  readonly #index: AccessIndex
  readonly #rights: Rights

  constructor(catalog: Catalog, index: AccessIndex, rights: Rights) {
    this.#catalog = catalog
    this.#index = index
    this.#rights = rights
  }

  /** A key of the principal's own, for this organization. Names need not differ. */
  async create(name: string, expires_at: string | null = null): Promise<IssuedKey> {
    const { userId, organizationId } = this.#rights.principal
    const user = userId === null ? undefined : this.#catalog.get('user', userId)
    if (!user || user.is_service_account || !this.#rights.isMember(user.id)) {
      throw new AssayError('ACCESS_DENIED', 'Only people have API keys', {
        hint: 'programs have service tokens: POST /v1/service_token',
      })
    }
    const text = newKeyText()
    const given = {
      org_id: organizationId,
      user_id: user.id,
      name,
      preview_name: previewKey(text),
      hash: hashKey(text).toString('hex'),
      expires_at,
    }
    const key = await this.#change((change) => change.create('api_key', given))
    return { key, text }
  }

  /** With `replace`, tokens of the account that have the name are revoked in the same step. */
  createToken(
    accountId: string,
    name: string,
    replace: boolean,
    expires_at: string | null = null,
  ): Promise<IssuedToken> {
    const { organizationId } = this.#rights.principal
    return this.#change((change) => {
      if (!this.#rights.owns()) throw missingAccess('create', 'organization', organizationId)
      const isAccount = this.#catalog.get('user', accountId)?.is_service_account
      if (!isAccount || !this.#rights.isMember(accountId)) {
        throw new AssayError('REQUEST_INVALID', `there is no service account ${accountId}`, {
          path: 'service_account_id',
          hint: 'PATCH /v1/organization/members makes service accounts',
        })
      }
      if (replace) {
        change.removeNaming('service_token', accountId, (token) => {
          return token.org_id === organizationId && token.name === name
        })
      }
      return addServiceToken(change, organizationId, accountId, name, expires_at)
    })
  }

  /** When what the principal has come in with ends, in milliseconds. */
  get expiresMs(): number {
    return keyExpiryMs(this.#catalog, this.#rights.principal.keyId)
  }

  #change<T>(run: Parameters<typeof guardedChange<T>>[3]): Promise<T> {
    return guardedChange(this.#catalog, this.#index, this.#rights.principal, run)
  }
}
