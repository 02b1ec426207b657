/** Where backups are kept: files by their paths, which have `/` between their parts. */
export interface BackupStore {
  /** For people. */
  readonly name: string
  /** Whether what was written cannot be read: it holds one backup of everything. */
  readonly isStream?: boolean
  has(path: string): Promise<boolean>
  /** Undefined when there is no such file. */
  read(path: string): Promise<Buffer | undefined>
  /** The whole file is there for good when this resolves, and none of it, or the one before, when it rejects. */
  write(path: string, bytes: Uint8Array): Promise<void>
  /** Paths that begin with `prefix`, ascending. */
  list(prefix: string): Promise<string[]>
  remove(path: string): Promise<void>
  /** Keeps others from writing to it, as far as that can be done; returns what ends that. */
  lock(): Promise<() => Promise<void>>
  /** Ends what is written; needed by a stream. */
  close(): Promise<void>
}
