/** What keeps an export from going on. */

export const faultKinds = [
  /** A node does not answer, or not in time. */
  'unreachable',
  /** User or password are wrong, or may not do what is asked. */
  'refused',
  /** The server, or a setting of it, lacks what is needed. */
  'unfit',
  /** A table is not as it was made. */
  'altered',
  /** The database is another service's. */
  'owned',
  /** No room, or a table that takes no writes. */
  'full',
  /** A record that is to be exported is damaged. */
  'damaged',
  /** Tables that alone have the bodies of records are not there any more. */
  'lost',
  /** Anything else. */
  'failed',
] as const

export type FaultKind = (typeof faultKinds)[number]

/** Its message names the node and the way out. */
export class ExportFault extends Error {
  override readonly name = 'ExportFault'
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** A replica has not all rows that have arrived; another may have. */
export class ReplicaBehind extends ExportFault {}
