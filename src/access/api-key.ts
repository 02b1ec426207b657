import { createHash, randomBytes } from 'node:crypto'

/** A new key's text: 256 random bits. Nobody can read it again once it has been shown. */
export function newKeyText(): string {
  return `sk-${randomBytes(32).toString('base64url')}`
}

/** What is kept of a key. No salt: the text is random, so there is nothing to guess. */
export function hashKey(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Enough of a key for its owner to know it again. */
export function previewKey(text: string): string {
  return text.length < 16 ? '***' : `${text.slice(0, 5)}***${text.slice(-3)}`
}
