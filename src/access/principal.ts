import type { Actor } from '../catalog/audit-trail.ts'

/** Who asks, on behalf of which organization. */
export interface Principal {
  /**
   * Whose rights count. Null is whoever has the data directory in hands, who may do everything in
   * the organization.
   */
  readonly userId: string | null
  readonly organizationId: string
  /** The API key or service token; null when there is none. */
  readonly keyId: string | null
  /** The session at the web page; undefined when there is none. */
  readonly sessionId?: string
  /** The owner of the key, who acts in the name of another. */
  readonly realUserId?: string
}

/** What the audit trail says of a principal. */
export function actorOf({ userId, organizationId, keyId, realUserId }: Principal): Actor {
  return {
    userId,
    organizationId,
    ...(keyId !== null && { keyId }),
    ...(realUserId !== undefined && { realUserId }),
  }
}
