/** What a backup is made from: a running service. Each answer is bounded, and may be asked for again. */
import type { RowPlace, TransactionRange } from '../storage/backup/read-rows.ts'

export interface SourceState {
  /** Of the data directory. */
  readonly source: string
  readonly version: string
  readonly transaction: number
  /** Of the log's entry for the transaction that was asked for; null when it has none. */
  readonly entry: string | null
  /** While it is the same, so are the log's entries that were read; undefined when the service does not tell. */
  readonly logState?: string
}

export interface RowsAnswer {
  readonly list: Buffer
  readonly next: RowPlace | undefined
  readonly rows: readonly (readonly [object: number, rows: number])[]
  readonly damaged: number
}

export interface LogAnswer {
  readonly list: Buffer
  readonly next: number | undefined
}

export interface CatalogAnswer {
  readonly transaction: number
  readonly time: number
  readonly damaged: number
  readonly chunks: readonly {
    readonly hash: string
    /** Of those that were not known, as many as one answer has. */
    readonly list: Buffer | undefined
  }[]
}

/** A file of the folder of attachments. */
export interface SourceFile {
  readonly name: string
  readonly bytes: number
  readonly modifiedMs: number
}

export interface SourceFolder {
  readonly name: string
  /** When a file in it was made or removed last. */
  readonly modifiedMs: number
  /** Undefined when nothing has changed since the time that was asked for. */
  readonly files: readonly SourceFile[] | undefined
}

export interface BackupSource {
  state(transaction: number): Promise<SourceState>
  rows(range: TransactionRange, from: RowPlace | undefined): Promise<RowsAnswer>
  log(range: TransactionRange): Promise<LogAnswer>
  /** See `LogDigest`. */
  logDigest(range: TransactionRange): Promise<string>
  catalog(known: readonly string[], hasSecrets: boolean): Promise<CatalogAnswer>
  /** @param known when folders had been changed last, by their names */
  folders(known: { readonly [folder: string]: number }): Promise<readonly SourceFolder[]>
  /** Some small files; those that are gone are left out. */
  smallFiles(names: readonly string[]): Promise<ReadonlyMap<string, Buffer>>
  /** Undefined when it is gone. */
  filePart(name: string, start: number, bytes: number): Promise<Buffer | undefined>
  /** Files of the data directory that open what is stored, by their paths. */
  secrets(): Promise<ReadonlyMap<string, Buffer>>
}

/** An answer with bytes: u32 length of its head, the head as JSON, the bytes. */
export function encodeAnswer(head: object, bytes: Uint8Array = new Uint8Array()): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text, bytes])
}

export function decodeAnswer(answer: Buffer): { readonly head: unknown; readonly bytes: Buffer } {
  const end = 4 + answer.readUInt32BE(0)
  return {
    head: JSON.parse(answer.toString('utf8', 4, end)) as unknown,
    bytes: answer.subarray(end),
  }
}
