/** Damages stored values of segments, as a disk would: bits are flipped, or a range is zeroed. */
import { type BinaryDatabase, closeSegments, openSegments } from '../../src/storage/environment.ts'

export const damagedKinds = ['columns', 'metadata', 'keys', 'textIndexes', 'manifest'] as const
export type DamagedKind = (typeof damagedKinds)[number]

/** Gives numbers from 0 on and below the one that it is given. */
export type Random = (below: number) => number

/** The same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Changes one value of the directory's segments, which nobody has open, and says which. */
export async function damageSegments(
  directory: string,
  kind: DamagedKind,
  random: Random,
): Promise<string> {
  const environment = openSegments(directory, { readOnly: false })
  try {
    const database: BinaryDatabase = environment[kind]
    const keys = [...database.getKeys()]
    const key = keys[random(keys.length)]!
    const value = Buffer.from(database.get(key)!)
    const told = damage(value, random)
    database.putSync(key, value)
    return `${kind} ${key.toString('hex')}: ${told}`
  } finally {
    await closeSegments(environment)
  }
}

function damage(value: Buffer, random: Random): string {
  const at = random(value.length)
  if (random(2) === 0) {
    value[at]! ^= 1 << random(8)
    return `a bit of byte ${at} of ${value.length}`
  }
  const length = 1 + random(Math.min(4096, value.length - at))
  value.fill(0, at, at + length)
  return `${length} zeros from byte ${at} of ${value.length} on`
}
