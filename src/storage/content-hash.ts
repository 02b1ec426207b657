import { createHash } from 'node:crypto'

/** SHA-256, hexadecimal: names what has the content, wherever it lies. */
export function contentHash(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}
