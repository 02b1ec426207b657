import type { CatalogView } from '../../catalog/catalog.ts'
import type { RowMasking } from '../../storage/prepare/mask-body.ts'
import type { NamedAttachments } from '../../storage/prepare/named-attachments.ts'
import type { ObjectReference } from '../../type/record.ts'

export interface InsertRequest {
  /**
   * JSON, decompressed. Its memory may be taken. Where that is shared, all behind the body is written to, and read,
   * until the insert has settled.
   */
  readonly body: Uint8Array
  /** `logs3`: `{"rows": […]}`, each naming its object. `events`: `{"events": […]}` of `object`. */
  readonly form: 'logs3' | 'events'
  readonly object?: ObjectReference
  readonly view: CatalogView
  /** Who writes: answers of reviews are theirs. */
  readonly userId?: string
  /** Of what the service itself writes, which may be more than a client may send. */
  readonly mostRows?: number
  /** Found when the request comes to be inserted. */
  readonly masking?: RowMasking
}

export interface InsertResult {
  /** One for each row, in their order. */
  readonly ids: readonly string[]
  /** The `_xact_id` of all the rows. */
  readonly transactionId: string
  /** Which attachments the rows name. */
  readonly attachments: readonly NamedAttachments[]
}
