import { randomFillSync } from 'node:crypto'

/** Made at a time: 0.1 µs for each, where one by itself takes 0.75. */
const madeIds = 128

const bytes = Buffer.alloc(16 * madeIds)
let made = ''
let given = madeIds

/** A random UUID (version 4) in 32 hexadecimal digits. */
export function newTraceId(): string {
  if (given === madeIds) {
    randomFillSync(bytes)
    for (let at = 0; at < bytes.length; at += 16) {
      bytes[at + 6] = (bytes[at + 6]! & 0x0f) | 0x40
      bytes[at + 8] = (bytes[at + 8]! & 0x3f) | 0x80
    }
    made = bytes.toString('hex')
    given = 0
  }
  const start = 32 * given++
  return made.slice(start, start + 32)
}
