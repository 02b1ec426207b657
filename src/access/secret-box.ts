/**
 * Keeps secrets of users encrypted on disk: AES-256-GCM, with a key that is not in the catalog. It is
 * in a file of the data directory that only its owner can read, or given by the environment.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AssayError } from '../error.ts'

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const fileName = 'secret.key'

export class SecretBox {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** `given` is the key as 64 hexadecimal digits; without it the file has it, which is made if there is none. */
  static open(directory: string, given: string | undefined): SecretBox {
    if (given !== undefined) return new SecretBox(parseKey(given, 'ASSAY_SECRET_KEY'))
    const path = join(directory, fileName)
    try {
      const key = randomBytes(keyBytes).toString('hex')
      writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true })
      return new SecretBox(parseKey(key, path))
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown
    }
    return new SecretBox(parseKey(readFileSync(path, 'utf8').trim(), path))
  }

  /** `owner` says whose it is: nothing opens under another one. */
  seal(text: string, owner: string): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(owner))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
  }

  /** Throws when it was sealed with another key or for another owner, or was changed. */
  unseal(sealed: string, owner: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const nonce = bytes.subarray(0, nonceBytes)
    const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, {
        authTagLength: tagBytes,
      })
      decipher.setAAD(Buffer.from(owner)).setAuthTag(tag)
      const text = decipher.update(bytes.subarray(nonceBytes + tagBytes))
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    } catch (cause) {
      throw new AssayError(
        'STORAGE_CORRUPT',
        'a secret cannot be read with the key of this service',
        {
          cause,
          hint: `set the key that it was written with, or write the secret again`,
        },
      )
    }
  }
}

/** The end of what is long enough to be known by it. */
export function previewSecret(text: string): string {
  return text.length < 16 ? '***' : `***${text.slice(-4)}`
}

function parseKey(text: string, source: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  throw new AssayError('CONFIG_INVALID', `${source} must be a key of 64 hexadecimal digits`, {
    hint: 'make one with: openssl rand -hex 32',
  })
}
