import { AssayError } from '../../error.ts'

const lineEnd = /[\r\n]/

/** Headers as they are sent, each with the end of its line; none may bring lines of its own. */
export function headerLines(headers: Readonly<Record<string, string | readonly string[]>>): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') lines += headerLine(name, value)
    else for (const one of value) lines += headerLine(name, one)
  }
  return lines
}

function headerLine(name: string, value: string): string {
  if (lineEnd.test(value)) {
    throw new AssayError('INTERNAL', `header ${name} has the end of a line in it`)
  }
  return `${name}: ${value}\r\n`
}
