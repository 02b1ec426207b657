import { STATUS_CODES } from 'node:http'

const words: Readonly<Record<number, string>> = { 499: 'Client Closed Request' }

/** What stands behind the number of a status. */
export function statusText(status: number): string {
  return words[status] ?? STATUS_CODES[status] ?? 'Unknown'
}
