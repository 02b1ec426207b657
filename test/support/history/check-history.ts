/**
 * Says what is wrong with a history. It is right when its writes have one order, that of their
 * transactions, which real time allows, and each read is what the writes of some beginning of that order give:
 * one with all that was acknowledged before the read began, all that earlier reads have seen, and
 * nothing that began after it ended. A read of a version is what the writes up to that version give. Each round of a
 * stream tells exactly what changed since the one before. What the service says of its own history shares no code
 * with this.
 */
import type { History, Read, Row, Stream, Trace, Write } from './operation.ts'
import { type Committed, canonical, Replay } from './replay.ts'

/** Empty when nothing is. */
export function checkHistory(history: History): string[] {
  const faults: string[] = []
  const committed = committedWrites(history, faults)
  checkOrder(committed, faults)
  const replay = new Replay(committed)
  checkTraces(replay, history.traces, faults)
  checkReads(replay, committed, history.reads, faults)
  for (const [i, stream] of history.streams.entries()) {
    checkStream(replay, committed, stream, (fault) => {
      faults.push(`stream ${i}: ${fault}`)
    })
  }
  return faults
}

/** Those that took place; of what became of the others, the traces tell. */
function committedWrites({ writes, traces }: History, faults: string[]): Committed[] {
  const transactions = new Map<number, string>()
  for (const { write, transaction } of traces) {
    if (write === undefined) continue
    const known = transactions.get(write) ?? transaction
    if (known !== transaction) faults.push(`write ${write} is of ${known} and of ${transaction}`)
    transactions.set(write, transaction)
  }
  const committed = writes.flatMap((write): Committed[] => {
    const { number, outcome } = write
    const transaction = transactions.get(number)
    if (outcome === 'refused' && transaction) faults.push(`write ${number} took place, refused`)
    if (typeof outcome === 'object') return [{ ...write, outcome }]
    return transaction ? [{ ...write, outcome: { transaction } }] : []
  })
  return committed.sort((a, b) => (a.outcome.transaction < b.outcome.transaction ? -1 : 1))
}

/** A write that ended before another began has an earlier transaction. */
function checkOrder(committed: readonly Committed[], faults: string[]): void {
  let latestBegin = Number.NEGATIVE_INFINITY
  let latest: Committed | undefined
  committed.forEach((write, i) => {
    const next = committed[i + 1]
    if (next?.outcome.transaction === write.outcome.transaction) {
      faults.push(`writes ${write.number} and ${next.number} have the same transaction`)
    }
    if (write.end < latestBegin) {
      faults.push(`write ${write.number} ended before ${latest!.number} began, and comes after it`)
    }
    if (write.begin > latestBegin) {
      latestBegin = write.begin
      latest = write
    }
  })
}

/** What is left of the writes is all of each. */
function checkTraces(replay: Replay, traces: readonly Trace[], faults: string[]): void {
  const expected = new Set(replay.versions())
  const found = new Set(traces.map((one) => `${one.object}/${one.id}/${one.transaction}`))
  for (const version of expected) if (!found.has(version)) faults.push(`${version} is lost`)
  for (const version of found) if (!expected.has(version)) faults.push(`${version} was not written`)
}

function checkReads(
  replay: Replay,
  committed: readonly Committed[],
  reads: readonly Read[],
  faults: string[],
): void {
  const transactions = committed.map(({ outcome }) => outcome.transaction)
  const bounds = new Bounds(committed)
  // What a read has seen counts for those that begin after it has ended.
  const waiting: { readonly end: number; readonly place: number }[] = []
  let least = -1
  for (const read of [...reads].sort((a, b) => a.begin - b.begin)) {
    const { objects, question, version, begin, end, client } = read
    const given = canonical(read.answer)
    const name = `read of client ${client} at ${begin.toFixed(1)} (${JSON.stringify(question)}`
    if (version !== undefined) {
      const wanted = canonical(replay.answer(objects, question, version))
      if (given !== wanted)
        faults.push(`${name} at version ${version}): ${difference(wanted, given)}`)
      continue
    }
    for (let i = waiting.length - 1; i >= 0; i--) {
      if (waiting[i]!.end >= begin) continue
      for (const { place } of waiting.splice(i, 1)) least = Math.max(least, place)
    }
    const from = Math.max(least, bounds.acknowledgedBefore(begin))
    const to = bounds.lastBegunBefore(end)
    const place = range(from, to).find(
      (at) => canonical(replay.answer(objects, question, transactions[at] ?? '')) === given,
    )
    if (place !== undefined) {
      waiting.push({ end, place })
      continue
    }
    const wanted = canonical(replay.answer(objects, question, transactions[to] ?? ''))
    faults.push(`${name}) is of no moment from ${from} to ${to}: ${difference(wanted, given)}`)
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
}

/** Places in the order of transactions that times allow. */
class Bounds {
  readonly #ends: readonly number[]
  readonly #places: number[] = []
  /** The latest begin among this write and those before it. */
  readonly #begins: number[] = []

  constructor(committed: readonly Committed[]) {
    const acknowledged = committed
      .map((write, place) => ({ write, place }))
      .sort((a, b) => a.write.end - b.write.end)
    this.#ends = acknowledged.map(({ write }) => write.end)
    for (const { place } of acknowledged) {
      this.#places.push(Math.max(place, this.#places.at(-1) ?? -1))
    }
    for (const { begin } of committed) {
      this.#begins.push(Math.max(begin, this.#begins.at(-1) ?? Number.NEGATIVE_INFINITY))
    }
  }

  /** The last place that a write had which ended before this time; -1 if none. */
  acknowledgedBefore(time: number): number {
    return this.#places[firstAtLeast(this.#ends, time) - 1] ?? -1
  }

  /** The last place before which, it included, no write began later than this time. */
  lastBegunBefore(time: number): number {
    return firstAtLeast(this.#begins, time) - 1
  }
}

/** In ascending numbers, the place of the first that is at least this. */
function firstAtLeast(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < least) low = middle + 1
    else high = middle
  }
  return low
}

function checkStream(
  replay: Replay,
  committed: readonly Committed[],
  { objects, question, rounds }: Stream,
  tell: (fault: string) => void,
): void {
  let before = ''
  let answer = ''
  for (const { end, transaction, isWhole, answer: given, removed } of rounds) {
    const name = `the round up to ${transaction}`
    if (transaction < before) tell(`${name} comes after one up to ${before}`)
    const early = committed.find(
      (write) => write.outcome.transaction <= transaction && write.begin > end,
    )
    if (early) tell(`${name} has write ${early.number}, which began later`)
    if (isWhole) {
      const wanted = canonical(replay.answer(objects, question, transaction))
      answer = canonical(given)
      if (answer !== wanted) tell(`${name} is ${difference(wanted, answer)}`)
    } else if (question.kind === 'groups') {
      const wanted = canonical(replay.answer(objects, question, transaction))
      if (wanted !== answer) tell(`${name} has nothing new: ${difference(wanted, answer)}`)
    } else {
      const changes = replay.changes(objects, question, before, transaction)
      const rows = sorted(changes.rows)
      if (sorted(given as readonly Row[]) !== rows) {
        tell(`${name}: ${difference(rows, sorted(given as readonly Row[]))}`)
      }
      const ids = new Set(removed.map(({ object, id }) => `${object}/${id}`))
      const kept = changes.removed.filter((id) => !ids.has(id))
      if (kept.length > 0) tell(`${name} does not remove ${kept}`)
      // Whether a record passed before need not be known: it may be named in any case.
      const others = [...ids].filter((id) => !changes.others.includes(id))
      if (others.length > 0) tell(`${name} removes ${others}`)
    }
    before = transaction
  }
  const last = committed.findLast(({ changes }) => concern(changes, objects))
  if (last && before < last.outcome.transaction)
    tell(`ends at ${before}, before write ${last.number}`)
}

function concern(changes: Write['changes'], objects: readonly string[]): boolean {
  return changes.some(({ object }) => objects.includes(object))
}

function sorted(rows: readonly Row[]): string {
  return canonical(rows).split('\n').sort().join('\n')
}

/** Lines of one and not of the other. */
function difference(wanted: string, given: string): string {
  const [left, right] = [wanted.split('\n'), given.split('\n')]
  const missing = left.filter((line) => !right.includes(line)).slice(0, 3)
  const added = right.filter((line) => !left.includes(line)).slice(0, 3)
  return `missing [${missing.join('; ')}], too many [${added.join('; ')}]`
}
