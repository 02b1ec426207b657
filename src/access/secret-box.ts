/**
 * Keeps secrets of users encrypted on disk: AES-256-GCM, with a key that is not in the catalog. It is
 * in a file of the data directory that only its owner can read, or given by the environment.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Catalog } from '../catalog/catalog.ts'
import { AssayError } from '../error.ts'
import { makeDurablySync, writeDurablySync } from '../storage/durable-file.ts'

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const fileName = 'secret.key'

/** What was sealed, and for whom. */
export interface SealedSecret {
  readonly sealed: string
  readonly owner: string
}

export interface SecretBoxOptions {
  /** The key as 64 hexadecimal digits; without it the file of the directory has it. */
  readonly given?: string | undefined
  /** What the key has to open. */
  readonly stored?: readonly SealedSecret[]
  /** Whether to go on with a key that opens nothing of what is stored. */
  readonly isForgetting?: boolean
}

export class SecretBox {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /**
   * A key is made where there is none, and nothing was sealed. Throws when the key is none, or opens nothing of
   * what is stored, unless that is to be forgotten.
   */
  static open(directory: string, options: SecretBoxOptions = {}): SecretBox {
    const { given, stored = [], isForgetting = false } = options
    const path = join(directory, fileName)
    const kept = isForgetting ? [] : stored
    const key = given === undefined ? keyOfFile(path, kept) : parseKey(given, 'ASSAY_SECRET_KEY')
    const box = new SecretBox(key)
    if (kept.length === 0 || kept.some((secret) => box.#opens(secret))) return box
    const source = given === undefined ? path : 'ASSAY_SECRET_KEY'
    throw keyLost(`the key of ${source} opens none of`, kept)
  }

  #opens({ sealed, owner }: SealedSecret): boolean {
    try {
      this.unseal(sealed, owner)
      return true
    } catch {
      return false
    }
  }

  /** A key that follows from this one and tells nothing of it, for one purpose and owner. */
  derived(purpose: string, owner: string): Uint8Array {
    const info = `${purpose}/${owner}`
    return new Uint8Array(hkdfSync('sha256', this.#key, Buffer.alloc(0), info, keyBytes))
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

/** All that the catalog keeps sealed. */
export function storedSecrets(catalog: Catalog): SealedSecret[] {
  const kinds = ['env_var', 'ai_secret'] as const
  const entries = kinds.flatMap((kind) => [...catalog.list(kind)])
  return entries.flatMap(({ sealed, org_id: owner }) =>
    sealed === null ? [] : [{ sealed, owner }],
  )
}

/** The key in a file. Where it is missing or empty it is made, unless something was sealed with what it had. */
function keyOfFile(path: string, stored: readonly SealedSecret[]): Buffer {
  const text = textOf(path)?.trim()
  if (text !== undefined && text !== '') return parseKey(text, path)
  if (stored.length > 0) {
    throw keyLost(
      `${path} is ${text === undefined ? 'missing' : 'empty'}, and its key was used for`,
      stored,
    )
  }
  const key = randomBytes(keyBytes)
  const bytes = `${key.toString('hex')}\n`
  if (text === '') writeDurablySync(path, bytes)
  else if (!makeDurablySync(path, bytes)) return parseKey(readFileSync(path, 'utf8').trim(), path)
  return key
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw thrown
  }
}

function parseKey(text: string, source: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  throw new AssayError('CONFIG_INVALID', `${source} must be a key of 64 hexadecimal digits`, {
    hint:
      source === 'ASSAY_SECRET_KEY'
        ? 'make one with: openssl rand -hex 32'
        : 'put back the file as it was; only if no secret was ever stored, delete it, and another key is made',
  })
}

function keyLost(fault: string, { length: count }: readonly SealedSecret[]): AssayError {
  const secrets = count === 1 ? 'the stored secret' : `the ${count} stored secrets`
  return new AssayError('CONFIG_INVALID', `${fault} ${secrets}`, {
    hint:
      'put back the file secret.key, or set ASSAY_SECRET_KEY to the key that they were written with. ' +
      'If it is lost, start once with --forget-secrets and write them again',
  })
}
