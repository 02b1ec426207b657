import type { Change } from '../catalog/change.ts'
import type { ServiceToken } from '../catalog/entry.ts'
import { hashKey, newKeyText, previewKey } from './key-ring.ts'

export interface IssuedToken {
  readonly token: ServiceToken
  /** Shown now and never again. */
  readonly text: string
}

export function addServiceToken(
  change: Change,
  org_id: string,
  service_account_id: string,
  name: string,
  expires_at: string | null,
): IssuedToken {
  const text = newKeyText()
  const token = change.create('service_token', {
    org_id,
    service_account_id,
    name,
    preview_name: previewKey(text),
    hash: hashKey(text).toString('hex'),
    expires_at,
  })
  return { token, text }
}
