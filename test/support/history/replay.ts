/** Writes applied one by one in the order of their transactions; answers as of any of them. */
import type { Fields, Group, Question, Row, Write } from './operation.ts'

export interface Committed extends Write {
  readonly outcome: { readonly transaction: string }
}

interface Version {
  readonly transaction: string
  /** Undefined where the record was deleted. */
  readonly row: Row | undefined
}

export class Replay {
  /** By object, then id; oldest first. */
  readonly #records = new Map<string, Map<string, Version[]>>()

  /** @param writes in the order of their transactions */
  constructor(writes: readonly Committed[]) {
    for (const write of writes) {
      for (const index of write.changes.keys()) this.#apply(write, index)
    }
  }

  /** What a question gives when all transactions up to this one, and no others, have taken place. */
  answer(objects: readonly string[], question: Question, transaction: string) {
    return answerOf(question, this.#rows(objects, transaction))
  }

  /**
   * What became of records after one transaction, up to another: the rows that pass, the names of those that do
   * not, and which of these passed before.
   */
  changes(objects: readonly string[], question: Question, after: string, upTo: string) {
    const rows: Row[] = []
    const others: string[] = []
    const removed: string[] = []
    for (const [name, versions] of this.#of(objects)) {
      const last = versionAt(versions, upTo)
      if (!last || last.transaction <= after) continue
      if (last.row && passes(question, last.row)) {
        rows.push(last.row)
        continue
      }
      others.push(name)
      const earlier = versionAt(versions, after)?.row
      if (earlier && passes(question, earlier)) removed.push(name)
    }
    return { rows, others, removed }
  }

  /** Every version of every record, as `object/id/transaction`. */
  *versions(): Generator<string> {
    for (const [name, versions] of this.#of([...this.#records.keys()])) {
      for (const { transaction } of versions) yield `${name}/${transaction}`
    }
  }

  #apply({ changes, number, outcome: { transaction } }: Committed, index: number): void {
    const { object, id, action, fields } = changes[index]!
    const records = entry(this.#records, object, () => new Map<string, Version[]>())
    const versions = entry(records, id, () => [])
    const before = versions.at(-1)?.row
    if (action === 'delete') {
      if (before) versions.push({ transaction, row: undefined })
      return
    }
    const metadata = action === 'merge' ? { ...before?.metadata, ...fields } : fields
    const paginationKey = before?.paginationKey ?? paginationKeyOf(transaction, index)
    const row = { object, id, transaction, paginationKey, write: number, metadata }
    versions.push({ transaction, row })
  }

  #rows(objects: readonly string[], transaction: string): Row[] {
    const found = Array.from(this.#of(objects), ([, versions]) => versionAt(versions, transaction))
    return found.flatMap((version) => version?.row ?? [])
  }

  *#of(objects: readonly string[]): Generator<[name: string, versions: readonly Version[]]> {
    for (const object of objects) {
      for (const [id, versions] of this.#records.get(object) ?? []) {
        yield [`${object}/${id}`, versions]
      }
    }
  }
}

function answerOf(question: Question, rows: readonly Row[]): Row[] | Group[] {
  if (question.kind === 'groups') return groupsOf(rows)
  const { after, limit } = question
  const passing = rows.filter(
    (row) => passes(question, row) && (after === undefined || row.paginationKey < after),
  )
  passing.sort((a, b) => (a.paginationKey < b.paginationKey ? 1 : -1))
  return passing.slice(0, limit)
}

function passes(question: Question, { id, metadata }: Row): boolean {
  if (question.kind === 'groups') return true
  const { id: wanted = id, least } = question
  return id === wanted && (least === undefined || (metadata.size ?? Number.NaN) >= least)
}

function groupsOf(rows: readonly Row[]): Group[] {
  const groups = new Map<number | null, { count: number; sum: number | null }>()
  for (const { metadata } of rows) {
    const group = entry(groups, metadata.kind ?? null, () => ({ count: 0, sum: null }))
    group.count++
    if (metadata.size !== undefined) group.sum = (group.sum ?? 0) + metadata.size
  }
  return Array.from(groups, ([kind, group]) => ({ kind, ...group }))
}

function versionAt(versions: readonly Version[], transaction: string): Version | undefined {
  return versions.findLast((version) => version.transaction <= transaction)
}

/** Ten digits and more that order as records do, as the service forms them. */
function paginationKeyOf(transaction: string, index: number): string {
  const low = BigInt(transaction) & ((1n << 48n) - 1n)
  return `p${((low << 16n) | BigInt(index)).toString().padStart(20, '0')}`
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

/** Rows and groups as texts that are equal when these are; groups have no order. */
export function canonical(answer: readonly Row[] | readonly Group[]): string {
  const lines = answer.map((one) =>
    'count' in one
      ? `${one.kind} ${one.count} ${one.sum}`
      : [
          one.object,
          one.id,
          one.transaction,
          one.paginationKey,
          one.write,
          text(one.metadata),
        ].join(' '),
  )
  return (answer.some((one) => 'count' in one) ? lines.sort() : lines).join('\n')
}

function text(metadata: Fields): string {
  const names = Object.keys(metadata).sort()
  return names.map((name) => `${name}=${metadata[name]}`).join(',')
}
