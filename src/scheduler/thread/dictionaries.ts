/**
 * Shared dictionaries of fields that queries group by. Segments number their texts each for itself;
 * without a common numbering every task would make a table of all texts and the merge once more,
 * which took 20 times as long as reading 1 M rows with 250,000 different texts.
 *
 * A dictionary is made before anybody wants it if there is time (`scheduler/upkeep.ts`), else by the first
 * query that does, in memory, and added to when there are new segments. The one that was used last is the last to go.
 */
import { distinctArgument } from '../../executor/aggregate/create.ts'
import type { UnifyResult, UnifyTask } from '../../executor/task/task.ts'
import type { TaskDictionary } from '../../executor/task/task-dictionaries.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { ManifestSegment } from '../../storage/segment/manifest.ts'
import {
  type ColumnMetadata,
  residualPathsOf,
  type SegmentMetadata,
} from '../../storage/segment/metadata.ts'
import { leadsTo, samePath } from '../../type/value.ts'
import type { SharedDictionary } from '../../vector/shared-dictionary.ts'

/** Of texts in segments, below which tables of their own are made faster. */
const fewestTexts = 16_384
/** Texts that one task adds at most, as other tasks wait for the thread. */
const textsPerTask = 262_144
const maximumTextBytes = 256 * 2 ** 20
/** Of all fields together, that are numbered before a query wants it. */
const preparedTexts = 16 * 2 ** 20
const maximumBytes = 512 * 2 ** 20

/** Rows that a query reads of a segment. */
export interface SegmentRows {
  readonly segment: number
  readonly rows: number
}

interface FieldState {
  readonly id: number
  dictionary: SharedDictionary | undefined
  readonly maps: Map<number, Int32Array>
  /** Its texts are too long to be held. */
  isGivenUp: boolean
  /** One at a time adds texts. */
  turn: Promise<void>
}

type Path = readonly string[]

interface WantedField {
  readonly path: Path
  /** Texts of the field by segment, of those that have any. */
  readonly texts: ReadonlyMap<number, number>
}

/** What makes them, on a worker. */
interface UnifyRunner {
  run(task: UnifyTask): Promise<UnifyResult>
}

export class Dictionaries {
  readonly #pool: UnifyRunner
  /** By path; the one that was used last at the end. */
  readonly #fields = new Map<string, FieldState>()
  #nextId = 1

  constructor(pool: UnifyRunner) {
    this.#pool = pool
  }

  /** Dictionaries for the keys of a plan that groups rows of segments, where they pay. */
  async of(
    plan: PhysicalPlan,
    parts: readonly SegmentRows[],
    segments: readonly ManifestSegment[],
    cancelled: Int32Array,
  ): Promise<readonly TaskDictionary[]> {
    const metadata = new Map(segments.map((segment) => [segment.id, segment.metadata]))
    const rows = parts.reduce((sum, part) => sum + part.rows, 0)
    const found: TaskDictionary[] = []
    for (const path of keyPaths(plan)) {
      const texts = new Map<number, number>()
      for (const { segment } of parts) {
        const count = textCount(metadata.get(segment)!, path)
        if (count > 0) texts.set(segment, count)
      }
      const field = await this.#field({ path, texts }, rows, metadata, cancelled)
      if (!field?.dictionary) continue
      const { dictionary, maps } = field
      const isComplete = parts.every(({ segment }) => !mayHideTexts(metadata.get(segment)!, path))
      found.push({ path, dictionary, maps, isComplete })
    }
    return found
  }

  /**
   * Makes those of traces and of other fields of which segments have many texts, each some times: those of the fewest
   * texts first, as far as there is room. Resolves early once `cancelled` is set.
   */
  async prepare(segments: readonly ManifestSegment[], cancelled: Int32Array): Promise<void> {
    const metadata = new Map(segments.map(({ id, metadata }) => [id, metadata]))
    const all = repeatedPaths(segments).map((path): WantedField => {
      const counts = segments.map(({ id, metadata }) => [id, textCount(metadata, path)] as const)
      return { path, texts: new Map(counts.filter(([, count]) => count > 0)) }
    })
    let room = preparedTexts
    for (const field of all.sort((a, b) => textsOf(a) - textsOf(b))) {
      room -= textsOf(field)
      if (room < 0 || Atomics.load(cancelled, 0) !== 0) return
      await this.#field(field, Number.POSITIVE_INFINITY, metadata, cancelled)
    }
  }

  /** Undefined when the field's dictionary would cost more than it saves. */
  async #field(
    { path, texts }: WantedField,
    rows: number,
    metadata: ReadonlyMap<number, SegmentMetadata>,
    cancelled: Int32Array,
  ): Promise<FieldState | undefined> {
    if (textsOf({ path, texts }) < fewestTexts) return undefined
    const field = this.#stateOf(path)
    const missing = () => [...texts.keys()].filter((segment) => !field.maps.has(segment))
    const cost = sumOf(missing().map((segment) => texts.get(segment)!))
    if (field.isGivenUp || cost > rows * 2) return undefined
    while (missing().length > 0 && !field.isGivenUp && Atomics.load(cancelled, 0) === 0) {
      const before = field.turn
      const add = () => this.#addSome(field, path, missing(), texts, metadata, cancelled)
      const work = before.then(add)
      field.turn = work.catch(() => undefined)
      await work
    }
    return field.isGivenUp ? undefined : field
  }

  #stateOf(path: Path): FieldState {
    const key = JSON.stringify(path)
    const field = this.#fields.get(key) ?? {
      id: this.#nextId++,
      dictionary: undefined,
      maps: new Map(),
      isGivenUp: false,
      turn: Promise.resolve(),
    }
    this.#fields.delete(key)
    this.#fields.set(key, field)
    return field
  }

  async #addSome(
    field: FieldState,
    path: Path,
    missing: readonly number[],
    texts: ReadonlyMap<number, number>,
    metadata: ReadonlyMap<number, SegmentMetadata>,
    cancelled: Int32Array,
  ): Promise<void> {
    if (missing.length === 0 || field.isGivenUp) return
    const segments = firstOf(missing, texts)
    const there = new Map([...field.maps].filter(([segment]) => metadata.has(segment)))
    const gone = [...field.maps.keys()].filter((segment) => !there.has(segment))
    const { dictionary, maps } = await this.#pool.run({
      kind: 'unify',
      id: field.id,
      dictionary: field.dictionary,
      path,
      segments,
      homes: gone.length > 0 ? there : undefined,
      maximumBytes: maximumTextBytes,
      cancelled,
    })
    // A query of an older snapshot that reads such segments has their maps.
    for (const segment of gone) field.maps.delete(segment)
    for (const [i, map] of together(maps).entries()) field.maps.set(segments[i]!, map)
    field.dictionary = dictionary
    if (!dictionary) {
      field.isGivenUp = true
      field.maps.clear()
    }
    this.#evict(field)
  }

  #evict(kept: FieldState): void {
    let bytes = sumOf(Array.from(this.#fields.values(), bytesOf))
    for (const [key, field] of this.#fields) {
      if (bytes <= maximumBytes) return
      if (field === kept || !field.dictionary) continue
      bytes -= bytesOf(field)
      this.#fields.delete(key)
    }
  }
}

/** Paths of fields that rows are grouped by, or whose different values are told apart. */
function keyPaths({ stage }: PhysicalPlan): Path[] {
  if (stage.kind !== 'groups') return []
  const told = stage.aggregates.flatMap((aggregate) => distinctArgument(aggregate) ?? [])
  const paths = new Map<string, Path>()
  for (const key of [...stage.keys, ...told]) {
    if (key.kind !== 'field') continue
    const path = key.path.filter((part) => typeof part === 'string')
    if (path.length === key.path.length) paths.set(JSON.stringify(path), path)
  }
  return [...paths.values()]
}

/** Paths of traces, and of fields whose texts segments have numbered: each of these is there more than once. */
function repeatedPaths(segments: readonly ManifestSegment[]): Path[] {
  const paths = new Map<string, Path>()
  for (const { metadata } of segments) {
    for (const column of metadata.columns) {
      const isNumbered = column.type === 'text' && column.encoding === 'dictionary'
      if (isNumbered || isTraceField(column)) paths.set(JSON.stringify(column.path), column.path)
    }
  }
  return [...paths.values()]
}

function isTraceField({ path, type }: ColumnMetadata): boolean {
  return type === 'text' && samePath(path, ['root_span_id'])
}

function textsOf({ texts }: WantedField): number {
  return sumOf(texts.values())
}

/** How many texts the segment keeps for the field: distinct ones, if it has a dictionary. */
function textCount({ columns, rowCount }: SegmentMetadata, path: Path): number {
  for (const column of columns) {
    if (column.type !== 'text' || !samePath(column.path, path)) continue
    return column.encoding === 'dictionary' ? column.distinctCount : rowCount
  }
  return 0
}

/** Whether the field may have texts there that are in no column of it. */
function mayHideTexts(metadata: SegmentMetadata, path: Path): boolean {
  if (residualPathsOf(metadata).some((each) => leadsTo(each, path))) return true
  return metadata.columns.some((column) => column.type === 'stored' && leadsTo(column.path, path))
}

/** The first segments, with as many texts as one task adds. */
function firstOf(segments: readonly number[], texts: ReadonlyMap<number, number>): number[] {
  const taken: number[] = []
  let count = 0
  for (const segment of segments) {
    if (taken.length > 0 && count + texts.get(segment)! > textsPerTask) break
    taken.push(segment)
    count += texts.get(segment)!
  }
  return taken
}

/** The maps in one piece of memory, as a message takes half a microsecond for each piece that it shares. */
function together(maps: readonly Int32Array[]): Int32Array[] {
  const all = new Int32Array(new SharedArrayBuffer(sumOf(maps.map(({ byteLength }) => byteLength))))
  let end = 0
  return maps.map((map) => {
    all.set(map, end)
    end += map.length
    return all.subarray(end - map.length, end)
  })
}

function bytesOf({ dictionary, maps }: FieldState): number {
  const { bytes, offsets, slots, homes } = dictionary ?? {}
  const arrays = [bytes, offsets, slots, homes]
  const own = sumOf(arrays.map((array) => array?.byteLength ?? 0))
  return own + sumOf(Array.from(maps.values(), (map) => map.byteLength))
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0
  for (const number of numbers) sum += number
  return sum
}
