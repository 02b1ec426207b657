/** What the thread that reads for backups is asked for. */
import type { WireError } from '../../error.ts'
import type { EvictedMark } from '../read/evicted-mark.ts'
import type { CatalogPiece } from './read-catalog.ts'
import type { IdsKept, KeptEntries, KeptPiece } from './read-kept.ts'
import type { LogPiece, LogState, RowPlace, RowsPiece, TransactionRange } from './read-rows.ts'

export type BackupTask =
  | {
      readonly kind: 'rows'
      readonly range: TransactionRange
      readonly from: RowPlace | undefined
      readonly bytes: number
      /** See `BackupReader.rows`. */
      readonly lent?: readonly SharedArrayBuffer[] | undefined
    }
  | {
      /** See `filledRows`. */
      readonly kind: 'fill'
      readonly list: Uint8Array
      readonly lent: readonly SharedArrayBuffer[]
    }
  | { readonly kind: 'log'; readonly range: TransactionRange; readonly bytes: number }
  | { readonly kind: 'state'; readonly transaction: number }
  | { readonly kind: 'digest'; readonly range: TransactionRange }
  | { readonly kind: 'evicted' }
  | { readonly kind: 'ids' }
  | {
      /** See `idRunPiece`. */
      readonly kind: 'id runs'
      readonly runs: readonly number[]
      readonly after: string | undefined
      readonly bytes: number
    }
  | {
      /** See `entryPiece`. */
      readonly kind: 'entries'
      readonly of: KeptEntries
      readonly after: string | undefined
      readonly bytes: number
    }
  | {
      readonly kind: 'catalog'
      readonly known: readonly string[]
      readonly bytes: number
      readonly hasSecrets: boolean
    }

export type BackupAnswer =
  | { readonly rows: RowsPiece }
  | { readonly list: Uint8Array }
  | { readonly log: LogPiece }
  | { readonly state: LogState }
  | { readonly digest: string }
  | { readonly evicted: EvictedMark | undefined }
  | { readonly ids: IdsKept }
  | { readonly kept: KeptPiece }
  | { readonly catalog: CatalogPiece }
  | { readonly error: WireError }
