/** What rows have that none before of the same object had. */
import { factor } from './json-text'
import {
  candidateTable,
  eventTable,
  mostEvents,
  mostSeen,
  outPlace,
  seenSlots,
  seenTable,
} from './places'

export let eventCount: i32 = 0
let candidates: i32 = 0
let seen: i32 = 0

/** Forgets what rows are known to have. */
export function forgetSeen(): void {
  memory.fill(seenTable, 0, (<usize>seenSlots) << 3)
  seen = 0
}

/** Keeps only the first `count` events. */
export function cutEvents(count: i32): void {
  eventCount = count
}

/** Begins with another row. */
export function beginCandidates(): void {
  candidates = 0
}

/** A value that rows of the object may not have had before. */
export function addCandidate(name: i32, start: usize, end: usize, hash: u64): void {
  const entry = candidateTable + <usize>candidates * 24
  store<i32>(entry, name)
  store<u32>(entry, <u32>(start - outPlace), 4)
  store<u32>(entry, <u32>(end - outPlace), 8)
  store<u64>(entry, hash, 16)
  candidates++
}

/**
 * Makes events of those that no row of the same object had; returns whether there is room.
 *
 * @param owner stands for the object
 */
export function tellCandidates(row: i32, owner: i32): bool {
  if (eventCount + candidates > mostEvents) return false
  for (let i = 0; i < candidates; i++) {
    const entry = candidateTable + <usize>i * 24
    const name = load<i32>(entry)
    if (!isNew(load<u64>(entry, 16), name, owner)) continue
    const event = eventTable + ((<usize>eventCount) << 4)
    eventCount++
    store<i32>(event, row)
    store<i32>(event, name, 4)
    store<u32>(event, load<u32>(entry, 4), 8)
    store<u32>(event, load<u32>(entry, 8), 12)
  }
  return true
}

function isNew(hash: u64, name: i32, owner: i32): bool {
  const place = ((<u64>(name + 1)) << 32) | <u64>(owner + 1)
  const mixed = (hash ^ (place * factor)) * factor
  const key = mixed | 1
  let slot = <i32>(mixed >> 40) & (seenSlots - 1)
  while (true) {
    const entry = seenTable + ((<usize>slot) << 3)
    const known = load<u64>(entry)
    if (known === key) return false
    if (known === 0) {
      if (seen < mostSeen) {
        store<u64>(entry, key)
        seen++
      }
      return true
    }
    slot = (slot + 1) & (seenSlots - 1)
  }
}
