/**
 * How much of long values may be read, or made, within one turn of the main thread's event loop. That a piece of work
 * is short is known by how many values it reads, but a value may have 100 MB: so whatever decodes, decompresses or
 * copies one notes its bytes here first, and the work ends once they are too many. It is then for a worker.
 */
import { AssayError } from '../error.ts'

/** Some milliseconds of work, whatever is done with them. */
export const turnBytes = 2 ** 20

/** Shorter values need not be noted: how many there are bounds them. */
export const longBytes = 256

let left = Number.POSITIVE_INFINITY

/** To be called before so many bytes of a value are worked on. Throws LIMIT_TURN within `limitTurn`. */
export function noteLong(bytes: number): void {
  left -= bytes
  if (left < 0) throw tooLong()
}

function tooLong(): AssayError {
  return new AssayError('LIMIT_TURN', 'the values are too long to be read within a turn')
}

/** Throws what `noteLong` would, before bytes are made that it is then told of. */
export function requireLeft(bytes: number): void {
  if (bytes > left) throw tooLong()
}

/** Runs work that throws LIMIT_TURN where it would read too much. */
export function limitTurn<Result>(work: () => Result): Result {
  const before = left
  left = turnBytes
  try {
    return work()
  } finally {
    left = before
  }
}

export function isTurnLimit(thrown: unknown): boolean {
  return thrown instanceof AssayError && thrown.code === 'LIMIT_TURN'
}
