/** Keeps functions that can make a long text of a short one from filling the memory. */
import { AssayError } from '../error.ts'
import { longBytes, noteLong } from '../json/turn-limit.ts'

/** Longest text, in UTF-16 units, that a function makes. */
export const maximumTextLength = 16 * 2 ** 20

/** Throws LIMIT_MEMORY if a function would make a text of more than `maximumTextLength`. */
export function checkTextLength(name: string, length: number): void {
  if (length > longBytes) noteLong(length)
  if (length <= maximumTextLength) return
  throw new AssayError(
    'LIMIT_MEMORY',
    `${name}() would make a text of more than ${maximumTextLength.toLocaleString('en')} characters`,
    { hint: 'ask for less of it, or filter out the rows whose texts are long' },
  )
}
