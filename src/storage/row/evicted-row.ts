/**
 * Row versions whose bodies have left the data directory, since a cluster has them: the row store keeps the keys, by which what
 * ends a version is known without the cluster, and the trace, with which a deletion is exported (`key-block.ts`). The id is
 * known by its hash, where ids are looked up. Whoever needs more is lent the body (`lent-rows.ts`), or told which ones it takes.
 */
import { AssayError, type EvictedVersion } from '../../error.ts'
import type { RowKey } from '../../type/transaction.ts'
import { type RowView, rowFlags } from './row.ts'
import type { RowBuilder } from './row-builder.ts'

/** Appends to the builder what is kept of a row. */
export function buildEvictedRow(view: RowView, builder: RowBuilder): void {
  builder.begin()
  const trace = view.field('root_span_id')
  if (trace) builder.copy('root_span_id', view.bytes, trace.start, trace.end)
  const { flags, paginationKey, transaction, previous } = view
  builder.finish({
    flags: flags | rowFlags.evicted,
    createdMs: 0,
    paginationKey,
    transaction,
    previous,
  })
}

export function evictedVersion(object: number, version: RowKey, view: RowView): EvictedVersion {
  return { object, paginationKey: view.paginationKey, version }
}

export function evictedError(evicted: readonly EvictedVersion[]): AssayError {
  return new AssayError(
    'BACKEND_UNAVAILABLE',
    'older records are in ClickHouse alone, and this cannot read them there',
    { evicted },
  )
}

/** Gathers what several reads lack, so that all of it is fetched at once. */
export class EvictedVersions {
  readonly #found: EvictedVersion[] = []

  /** What `read` gives; undefined where bodies are missing. */
  tried<Result>(read: () => Result): Result | undefined {
    try {
      return read()
    } catch (thrown) {
      const evicted = thrown instanceof AssayError ? thrown.evicted : undefined
      if (!evicted) throw thrown
      this.#found.push(...evicted)
      return undefined
    }
  }

  add(version: EvictedVersion): void {
    this.#found.push(version)
  }

  get count(): number {
    return this.#found.length
  }

  throwIfAny(): void {
    if (this.#found.length > 0) throw evictedError(this.#found)
  }
}
