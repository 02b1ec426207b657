/**
 * Where residuals begin, as `storage/shred/residual-paths.ts` has it: names below nodes of the tree of paths, and nodes
 * with so many of these that they stand for them.
 */

import { factor, hashOf } from './json-text'
import { reserve } from './shred-heap'

/** A node's size. */
export const nodeShift: usize = 6
/** In a node: how many names below it are listed, and whether it stands for too many to list. */
const countAt: usize = 44
const hasManyAt: usize = 48

const mostResidualPaths: i32 = 1024
const residualSlots: i32 = 4096

let nodes: usize = 0
let seenPaths: usize = 0
/** Node, begin and end of each listed name. */
export let residualPaths: usize = 0
export let residualPathCount: i32 = 0

export function beginResidualPaths(firstNode: usize): void {
  nodes = firstNode
  residualPathCount = 0
}

/** Returns whether there is room for them. */
export function reserveResidualPaths(): bool {
  seenPaths = reserve((<usize>residualSlots) << 3)
  residualPaths = reserve(<usize>(mostResidualPaths + 1) * 12)
  if (seenPaths === 0 || residualPaths === 0) return false
  memory.fill(seenPaths, 0, (<usize>residualSlots) << 3)
  return true
}

export function notePath(parent: usize, name: usize, nameEnd: usize): void {
  if (load<i32>(parent, hasManyAt) !== 0 || !see(parent, name, nameEnd)) return
  writePath(residualPathCount++, parent, name, nameEnd)
  store<i32>(parent, load<i32>(parent, countAt) + 1, countAt)
  if (residualPathCount > mostResidualPaths) listFullest()
}

/** Returns whether it was not seen before. */
function see(parent: usize, name: usize, nameEnd: usize): bool {
  const key = hashOf(name, nameEnd, <u64>parent * factor) | 1
  let slot = <i32>(key >> 20) & (residualSlots - 1)
  while (true) {
    const place = seenPaths + ((<usize>slot) << 3)
    const known = load<u64>(place)
    if (known === key) return false
    if (known === 0) {
      store<u64>(place, key)
      return true
    }
    slot = (slot + 1) & (residualSlots - 1)
  }
}

function writePath(place: i32, parent: usize, name: usize, nameEnd: usize): void {
  const entry = residualPaths + <usize>place * 12
  store<u32>(entry, <u32>((parent - nodes) >> nodeShift))
  store<u32>(entry, <u32>name, 4)
  store<u32>(entry, <u32>nameEnd, 8)
}

/** Has the path above most of the listed names stand for them: of several the one whose first name came first. */
function listFullest(): void {
  let fullest = nodes
  let most = 0
  for (let i = 0; i < residualPathCount; i++) {
    const parent = parentOf(i)
    const count = load<i32>(parent, countAt)
    if (count > most) {
      most = count
      fullest = parent
    }
  }
  store<i32>(fullest, 1, hasManyAt)
  store<i32>(fullest, 0, countAt)
  memory.fill(seenPaths, 0, (<usize>residualSlots) << 3)
  let kept = 0
  for (let i = 0; i < residualPathCount; i++) {
    const parent = parentOf(i)
    if (parent === fullest) continue
    const entry = residualPaths + <usize>i * 12
    const name = <usize>load<u32>(entry, 4)
    const nameEnd = <usize>load<u32>(entry, 8)
    see(parent, name, nameEnd)
    writePath(kept++, parent, name, nameEnd)
  }
  residualPathCount = kept
}

function parentOf(place: i32): usize {
  return nodes + ((<usize>load<u32>(residualPaths + <usize>place * 12)) << nodeShift)
}
