/**
 * What one query may hold. Each bound is some hundreds of megabytes at worst; beyond it a query fails
 * with an error that says what to do, rather than the process with it.
 */
import { getHeapStatistics } from 'node:v8'
import { AssayError } from '../../error.ts'

export const maximumGroups = 5_000_000
/** Different values of one grouping key, or of the argument of count_distinct. */
export const maximumDistinctValues = 10_000_000
/** Bytes of those that are texts. */
export const maximumDistinctBytes = 2 ** 30
/** Values that array_agg and string_agg put into lists. */
export const maximumCollectedValues = 10_000_000
/**
 * Characters of one such list: a text can be no longer than 2^29. Where it is made flat, V8 needs room for it twice in
 * this thread's heap, and ends the process if there is none.
 */
export const maximumCollectedCharacters = Math.min(
  2 ** 28,
  Math.floor(getHeapStatistics().heap_size_limit / 4),
)
/** Numbers that a percentile sorts. */
export const maximumPercentileNumbers = 50_000_000
/** Rows whose keys are held at once: a sort of more rows than that is given in passes, where it can be. */
export const maximumHeldRows = 4_000_000
/** A pivot makes one for each value of its key and each of its measures. */
export const maximumPivotColumns = 10_000
export const maximumPivotCells = 20_000_000
/** Traces of a comparison, whose scores and metrics are held: some kilobytes each. */
export const maximumComparedRows = 200_000
/** Field paths that `infer` describes. */
export const maximumInferredFields = 20_000

/** Throws LIMIT_MEMORY when there are more `things` than allowed. */
export function checkLimit(count: number, maximum: number, things: string, hint: string): void {
  if (count <= maximum) return
  throw new AssayError(
    'LIMIT_MEMORY',
    `the query would hold more than ${maximum.toLocaleString('en')} ${things}`,
    { hint },
  )
}

export function isMemoryLimit(thrown: unknown): boolean {
  return thrown instanceof AssayError && thrown.code === 'LIMIT_MEMORY'
}

/** Says that a query took more memory than its thread, or V8, has. */
export function outOfMemory(cause: unknown): AssayError {
  return new AssayError('LIMIT_MEMORY', 'the query took more memory than a thread has', {
    hint: 'narrow it down, group by fewer values, or add a limit',
    cause,
  })
}

/** What V8 says when a text, an array, a map or a buffer cannot be made so large. */
const tooLarge =
  /^(Array buffer allocation failed|Invalid (string|array) length|(Map|Set) maximum size exceeded|Cannot create a string longer than .*)$/

export function isOutOfRoom(thrown: unknown): boolean {
  return thrown instanceof Error && tooLarge.test(thrown.message)
}

/** Says that a query would hold more than its budget, in bytes. */
export function overBudget(budget: number): AssayError {
  const megabytes = Math.round(budget / 2 ** 20).toLocaleString('en')
  return new AssayError(
    'LIMIT_MEMORY',
    `the query would hold more than its budget of ${megabytes} MiB`,
    { hint: 'narrow it down, group by fewer values, or raise --query-memory-mb' },
  )
}
