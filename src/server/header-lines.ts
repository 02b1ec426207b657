import { assert } from '../error.ts'

/** Headers as they are sent, each with the end of its line; none may bring lines of its own. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name]!
    assert(!/[\r\n]/.test(value), `header ${name} has the end of a line in it`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}
