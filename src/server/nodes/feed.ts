/**
 * What a home node tells a query node that follows it: lines of JSON, without an end. The first has the catalog, unless the
 * node is as far as it is; the others have what changes. Records are not among them: a line says that there are some,
 * and the node asks for them as backups do (`../route/backup.ts`).
 */
import { z } from 'zod'
import type { Catalog } from '../../catalog/catalog.ts'
import { entryKinds } from '../../catalog/entry.ts'
import type { FollowedChange, FollowedEntry } from '../../catalog/followed-change.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import type { Purge } from '../../storage/maintenance/purge-plan.ts'
import { writeExactJson } from '../../type/exact-json.ts'
import { toldExport } from './cache-folder.ts'

/** Something comes at least so often: whoever hears nothing for longer has lost the home node. */
export const beatMs = 250

/** Of the catalog in a line. */
const entriesPerLine = 1000

/** What a node that does not read is kept; beyond it is told to begin anew. */
const mostWaiting = 10_000

const entry = z.tuple([z.enum(entryKinds as [string, ...string[]]), z.string(), z.unknown()])

export const feedLine = z.object({
  /** Of the home's data directory: another one has nothing to do with what was copied. */
  source: z.string().optional(),
  catalog: z
    .object({
      position: z.number(),
      lastNumber: z.number(),
      lastSequence: z.number(),
      entries: z.array(entry),
      /** What none of its lines names is gone. */
      isWhole: z.boolean(),
      /** Another line goes on with it. */
      isContinued: z.boolean(),
    })
    .optional(),
  /** What the home's cluster has, where it has one: once at first, then whenever it changes. */
  cold: toldExport.optional(),
  /** Row versions that have left the home, which are to leave the node once it has the transaction. */
  purges: z
    .array(z.custom<Purge>((value) => typeof value === 'object' && value !== null))
    .optional(),
  /** The last one that is to be had. */
  transaction: z.number().optional(),
})

export type FeedLine = z.infer<typeof feedLine>

export interface FeedOptions {
  readonly engine: Engine
  readonly catalog: Catalog
  readonly source: string
  /** How far the catalog of the node is, as it was of this source. */
  readonly position: number | undefined
  readonly signal: AbortSignal
  /** False: the service is about to end. */
  readonly isOpen: () => boolean
}

/** The lines; ends when the node leaves, when the service does, or when the node takes too little. */
export async function* feedLines(options: FeedOptions): AsyncGenerator<Uint8Array> {
  const { engine, catalog, source, signal, isOpen } = options
  const waiting: (FollowedChange | readonly Purge[])[] = []
  let wake: () => void = () => undefined
  let isNew = true
  /** It has to begin anew: something was left out. */
  let isLost = false
  const told = () => {
    isNew = true
    wake()
  }
  const take = (item: FollowedChange | readonly Purge[]) => {
    if (waiting.length < mostWaiting) waiting.push(item)
    else isLost = true
    told()
  }
  let coldBefore = ''
  /** Before what was removed: nothing of it is read on the cluster from then on. */
  const coldNow = (): FeedLine => {
    const cold = engine.cold?.told
    const now = JSON.stringify(cold) ?? ''
    if (!cold || now === coldBefore) return {}
    coldBefore = now
    return { cold: { ...cold, removing: [...cold.removing] } }
  }
  const { whole, end } = catalog.lead(take)
  const stop = engine.commits.listen({ committed: told, purged: take })
  signal.addEventListener('abort', told)
  try {
    yield line({ source })
    if (options.position !== whole.position) yield* catalogLines(whole, true)
    while (!signal.aborted && isOpen() && !isLost) {
      isNew = false
      for (let item = waiting.shift(); item; item = waiting.shift()) {
        if (isPurges(item)) {
          const transaction = engine.lastTransaction
          yield line({ ...coldNow(), purges: [...item], transaction })
        } else yield* catalogLines(item, false)
      }
      yield line({ ...coldNow(), transaction: engine.lastTransaction })
      if (!isNew) await new Promise<void>((resolve) => (wake = resolveWithin(resolve)))
    }
  } finally {
    end()
    stop()
    signal.removeEventListener('abort', told)
  }
}

function resolveWithin(resolve: () => void): () => void {
  const timer = setTimeout(resolve, beatMs)
  return () => {
    clearTimeout(timer)
    resolve()
  }
}

function* catalogLines(change: FollowedChange, isWhole: boolean): Generator<Uint8Array> {
  const { entries, ...counters } = change
  for (let at = 0; at === 0 || at < entries.length; at += entriesPerLine) {
    const isContinued = at + entriesPerLine < entries.length
    const some = entries.slice(at, at + entriesPerLine) as [...FollowedEntry][]
    yield line({ catalog: { ...counters, entries: some, isWhole, isContinued } })
  }
}

function line(told: FeedLine): Uint8Array {
  return Buffer.from(`${writeExactJson(told)}\n`)
}

function isPurges(item: FollowedChange | readonly Purge[]): item is readonly Purge[] {
  return Array.isArray(item)
}

/** How far the node says that its catalog is. Throws REQUEST_INVALID at what is no number. */
export function positionOf(text: string | null): number | undefined {
  if (text === null || text === '') return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new AssayError('REQUEST_INVALID', `"${text.slice(0, 40)}" is no position of the catalog`, {
    path: 'position',
  })
}
