/** A running service as the source of a backup, over HTTP. */

import { entriesOf } from '../storage/backup/entry-list.ts'
import type { IdsKept, KeptEntries, KeptPiece } from '../storage/backup/read-kept.ts'
import type { RowPlace, TransactionRange } from '../storage/backup/read-rows.ts'
import type { EvictedMark } from '../storage/read/evicted-mark.ts'
import {
  type BackupSource,
  type CatalogAnswer,
  decodeAnswer,
  type LogAnswer,
  type RowsAnswer,
  type SourceFolder,
  type SourceState,
} from './backup-source.ts'
import type { ReportedBackup } from './backup-state.ts'

/** How the service is asked. */
export interface ServiceClient {
  /** Gives the bytes of what is answered; throws what the service answers where it refuses. */
  postForBytes(path: string, body: string): Promise<Buffer>
}

export class ServiceSource implements BackupSource {
  readonly #client: ServiceClient

  constructor(client: ServiceClient) {
    this.#client = client
  }

  async state(transaction: number): Promise<SourceState> {
    const { head } = await this.#ask({ part: 'state', transaction })
    return head as SourceState
  }

  /** @param isKeptEnough of bodies that the service's cluster alone has, what it keeps will do */
  async rows(
    range: TransactionRange,
    from: RowPlace | undefined,
    isKeptEnough = false,
  ): Promise<RowsAnswer> {
    const { head, bytes } = await this.#ask({ part: 'rows', ...range, from, isKeptEnough })
    return { ...(head as Omit<RowsAnswer, 'list'>), list: bytes }
  }

  async log(range: TransactionRange): Promise<LogAnswer> {
    const { head, bytes } = await this.#ask({ part: 'log', ...range })
    return { ...(head as Omit<LogAnswer, 'list'>), list: bytes }
  }

  async logDigest(range: TransactionRange): Promise<string> {
    const { head } = await this.#ask({ part: 'digest', ...range })
    return (head as { readonly digest: string }).digest
  }

  /** How far bodies have left the service for its cluster. */
  async evicted(): Promise<EvictedMark | undefined> {
    const { head } = await this.#ask({ part: 'evicted' })
    return (head as { readonly evicted: EvictedMark | null }).evicted ?? undefined
  }

  async ids(): Promise<IdsKept> {
    const { head, bytes } = await this.#ask({ part: 'ids' })
    return { ...(head as Omit<IdsKept, 'list'>), list: bytes }
  }

  /** See `idRunPiece`. */
  idRuns(runs: readonly number[], after: string | undefined): Promise<KeptPiece> {
    return this.#kept({ part: 'id runs', runs, after })
  }

  /** See `entryPiece`. */
  entries(of: KeptEntries, after: string | undefined): Promise<KeptPiece> {
    return this.#kept({ part: 'entries', of, after })
  }

  async #kept(question: object): Promise<KeptPiece> {
    const { head, bytes } = await this.#ask(question)
    return { ...(head as Omit<KeptPiece, 'list'>), list: bytes }
  }

  async catalog(known: readonly string[], secrets: boolean): Promise<CatalogAnswer> {
    const { head, bytes } = await this.#ask({ part: 'catalog', known, secrets })
    const { chunks, ...others } = head as Omit<CatalogAnswer, 'chunks'> & {
      readonly chunks: readonly { readonly hash: string; readonly bytes?: number }[]
    }
    let at = 0
    const told = chunks.map(({ hash, bytes: length }) => {
      if (length === undefined) return { hash, list: undefined }
      at += length
      return { hash, list: bytes.subarray(at - length, at) }
    })
    return { ...others, chunks: told }
  }

  async folders(known: { readonly [folder: string]: number }): Promise<readonly SourceFolder[]> {
    const { head } = await this.#ask({ part: 'folders', known })
    return (head as { readonly folders: readonly SourceFolder[] }).folders
  }

  async smallFiles(names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const { bytes } = await this.#ask({ part: 'files', names })
    return mapOf(bytes)
  }

  async filePart(name: string, start: number, length: number): Promise<Buffer | undefined> {
    const { head, bytes } = await this.#ask({ part: 'file', name, start, bytes: length })
    return (head as { readonly isThere: boolean }).isThere ? bytes : undefined
  }

  async secrets(): Promise<ReadonlyMap<string, Buffer>> {
    const { bytes } = await this.#ask({ part: 'secrets' })
    return mapOf(bytes)
  }

  /** Tells the service of a backup that is whole. */
  async report(backup: ReportedBackup): Promise<void> {
    await this.#client.postForBytes('/admin/backup/done', JSON.stringify(backup))
  }

  async #ask(question: object) {
    const body = JSON.stringify({ question })
    return decodeAnswer(await this.#client.postForBytes('/admin/backup/read', body))
  }
}

function mapOf(list: Buffer): Map<string, Buffer> {
  return new Map(Array.from(entriesOf(list), ({ key, value }) => [key.toString(), value]))
}
