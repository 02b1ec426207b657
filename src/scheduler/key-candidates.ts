/** Narrows a scan to the granules that may hold the texts that its predicates ask for. */
import type { BoundExpression } from '../binder/bound.ts'
import { type PrunedRange, Zones } from '../executor/prune.ts'
import type { TraceSet, TraceTexts } from '../executor/trace-set.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import type { ObjectRows, SegmentMetadata } from '../storage/segment/metadata.ts'
import type { Path } from '../type/value.ts'
import { granuleRows } from '../vector/column.ts'

/** Looks texts of a field up: see `storage/key-index.ts`. */
export interface KeyFinder {
  findKeys(
    path: readonly string[],
    texts: readonly string[],
  ): ReadonlyMap<number, ReadonlySet<number>>
}

/** Each is a read of about a kilobyte per segment. */
const maximumTexts = 128

interface Candidates {
  readonly path: Path
  readonly bySegment: ReadonlyMap<number, ReadonlySet<number>>
}

export interface NarrowedRanges {
  readonly ranges: readonly PrunedRange[]
  /** Rows of the ranges that were given and are not in these. */
  readonly skipped: number
}

export class KeyCandidates {
  readonly #candidates: readonly Candidates[]

  /** @param traceSets those that predicates ask, as far as they are known */
  constructor(
    predicates: readonly BoundExpression[],
    traceSets: readonly TraceSet[],
    finder: KeyFinder,
  ) {
    this.#candidates = predicates.flatMap((predicate) => {
      const wanted = wantedTexts(predicate, traceSets)
      if (!wanted || wanted.texts.length > maximumTexts) return []
      return [{ path: wanted.path, bySegment: finder.findKeys(wanted.path, wanted.texts) }]
    })
  }

  /** What of the ranges may hold the texts. */
  narrow(
    segment: number,
    metadata: SegmentMetadata,
    part: ObjectRows,
    ranges: readonly PrunedRange[],
  ): NarrowedRanges {
    const granules = this.#candidates.flatMap(({ path, bySegment }) => {
      const found = bySegment.get(segment)
      // A value of another kind may equal a text too.
      const isOnlyText = found && new Zones(metadata, part, []).textBounds(path) !== 'unknown'
      return isOnlyText ? [found] : []
    })
    if (granules.length === 0) return { ranges, skipped: 0 }
    const left: { from: number; to: number }[] = []
    let skipped = 0
    for (const range of ranges) {
      for (let from = range.from; from < range.to; ) {
        const granule = Math.floor(from / granuleRows)
        const to = Math.min(range.to, (granule + 1) * granuleRows)
        if (!granules.every((found) => found.has(granule))) skipped += to - from
        else if (left.at(-1)?.to === from) left.at(-1)!.to = to
        else left.push({ from, to })
        from = to
      }
    }
    return { ranges: left, skipped }
  }
}

interface WantedTexts {
  readonly path: readonly string[]
  readonly texts: readonly string[]
}

/** A row that passes has one of the texts at the path. */
function wantedTexts(
  predicate: BoundExpression,
  traceSets: readonly TraceSet[],
): WantedTexts | undefined {
  if (predicate.kind === 'in_traces') {
    const { trace, set } = predicate
    const { traces, numbered } = traceSets[set] ?? {}
    if (trace.kind !== 'field' || !traces || numbered) return undefined
    const count = traces.reduce((sum, { offsets }) => sum + offsets.length - 1, 0)
    if (count > maximumTexts) return undefined
    return ofField(trace.path, traces.flatMap(textsOf))
  }
  if (predicate.kind === 'comparison' && predicate.operator === 'eq') {
    const { left, right } = predicate
    const [field, other] = left.kind === 'field' ? [left, right] : [right, left]
    if (other.kind !== 'constant' || typeof other.value !== 'string') return undefined
    return field.kind === 'field' ? ofField(field.path, [other.value]) : undefined
  }
  if (predicate.kind !== 'in' || predicate.list.kind !== 'constant') return undefined
  const { operand, list } = predicate
  if (operand.kind !== 'field' || !Array.isArray(list.value)) return undefined
  const texts = list.value.filter((item) => typeof item === 'string')
  return texts.length === list.value.length ? ofField(operand.path, texts) : undefined
}

function textsOf({ bytes, offsets }: TraceTexts): string[] {
  return Array.from({ length: offsets.length - 1 }, (_, i) => {
    return decodeUtf8(bytes, offsets[i]!, offsets[i + 1]!)
  })
}

function ofField(path: Path, texts: readonly string[]): WantedTexts | undefined {
  const names = path.filter((part) => typeof part === 'string')
  return names.length === path.length ? { path: names, texts } : undefined
}
