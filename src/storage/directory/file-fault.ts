/** What the system says when a file cannot be had, as a sentence with the way out. */
import { AssayError, type ErrorCode } from '../../error.ts'
import { faultNamed, faultNameOf, reasonOf } from '../system-fault.ts'

/**
 * `what` could not be done, and why; undefined when it was not the system that failed.
 *
 * @param what as a clause: `cannot write /data/x`
 */
export function fileFault(
  thrown: unknown,
  what: string,
  code: ErrorCode = 'STORAGE_UNAVAILABLE',
): AssayError | undefined {
  const name = faultNameOf(thrown)
  const fault = faultNamed(name)
  if (fault?.hint === undefined) return undefined
  const message = `${what}: ${reasonOf(fault, 'its disk')} (${String(name)})`
  return new AssayError(code, message, { hint: fault.hint, cause: thrown })
}
