/** Reads all that is stored again and again, a little at a time, so that damage is found before it is asked for. */
import type { WireError } from '../../error.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { verifyRecords } from '../read/verify-records.ts'
import type { RecordDamage } from '../record-damage.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { type SegmentFault, verifySegments } from '../segment/verify-segments.ts'

export interface ScrubStep {
  readonly kind: 'scrub'
  /** What is read at most, unless one value is larger. */
  readonly bytes: number
}

export interface Scrubbed {
  readonly bytes: number
  /** Whether all has been read once more. */
  readonly isRound: boolean
  readonly segments: readonly SegmentFault[]
  readonly records: readonly RecordDamage[]
}

export type ScrubAnswer = { readonly scrubbed: Scrubbed } | { readonly error: WireError }

/** One per thread: it goes on where it was. */
export class Scrubber {
  readonly #records: RecordsEnvironment
  readonly #store: SegmentStore
  #segments: SegmentFault[] = []
  #damages: RecordDamage[] = []
  #round: Generator<{ readonly bytes: number }> | undefined
  #bytes = 0

  constructor(records: RecordsEnvironment, store: SegmentStore) {
    this.#records = records
    this.#store = store
  }

  step({ bytes }: ScrubStep): Scrubbed {
    const begun = this.#bytes
    this.#round ??= this.#all()
    let isRound = false
    try {
      while (this.#bytes - begun < bytes && !isRound) isRound = this.#round.next().done === true
    } catch (thrown) {
      this.#round = undefined
      throw thrown
    }
    if (isRound) this.#round = undefined
    const found = { segments: this.#segments, records: this.#damages }
    this.#segments = []
    this.#damages = []
    return { bytes: this.#bytes - begun, isRound, ...found }
  }

  *#all(): Generator<{ readonly bytes: number }> {
    const parts = [
      verifySegments(this.#store, (fault) => {
        this.#segments.push(fault)
        if (fault.kind === 'manifest') this.#store.mendManifest()
      }),
      verifyRecords(this.#records, (damage) => this.#damages.push(damage)),
    ]
    for (const part of parts) {
      const before = this.#bytes
      for (const read of part) {
        this.#bytes = before + read.bytes
        yield read
      }
    }
  }
}
