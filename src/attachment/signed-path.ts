/** Paths that allow one thing with one file for some time, to whoever has them. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '../access/principal.ts'
import { AssayError } from '../error.ts'
import { makeDurablySync, makeFolder, writeDurably } from '../storage/durable-file.ts'

export type ContentAction = 'get' | 'put'

const lifeMs = 60 * 60 * 1000
const secretBytes = 32

/**
 * The secret of a data directory, made on the first start, so that paths outlive a restart. An empty file signs
 * nothing, so that it may be replaced; another one that is no secret is refused.
 */
export async function contentSecret(directory: string): Promise<Buffer> {
  const path = join(directory, 'secret')
  await makeFolder(directory)
  const made = randomBytes(secretBytes)
  if (makeDurablySync(path, made)) return made
  const secret = await readFile(path)
  if (secret.length === 0) {
    await writeDurably(path, made)
    return made
  }
  if (secret.length === secretBytes && new Set(secret).size > 1) return secret
  const found =
    secret.length === secretBytes ? 'the same byte again and again' : `${secret.length} bytes`
  throw new AssayError(
    'STORAGE_CORRUPT',
    `${path} has ${found} in place of a secret of ${secretBytes} bytes`,
    {
      hint: 'put back the file, or delete it: another is made, and links to files of the last hour end',
    },
  )
}

export class PathSigner {
  readonly #secret: Buffer
  readonly #now: () => number

  constructor(secret: Buffer, now: () => number = Date.now) {
    this.#secret = secret
    this.#now = now
  }

  /** For an hour. What the path is made for is in it, and has to be asked again whenever it is used. */
  sign(action: ContentAction, name: string, holder: Principal): string {
    const expires = String(this.#now() + lifeMs)
    const by = Buffer.from(JSON.stringify(holder)).toString('base64url')
    const signature = this.#signature(action, name, expires, by).toString('base64url')
    const query = `action=${action}&expires=${expires}&by=${by}&signature=${signature}`
    return `/attachment/content/${name}?${query}`
  }

  /** Who it was made for. Throws when the path was not signed here for this action, or its time is over. */
  verify(action: ContentAction, name: string, query: URLSearchParams): Principal {
    const expires = query.get('expires') ?? ''
    const given = Buffer.from(query.get('signature') ?? '', 'base64url')
    const by = query.get('by') ?? ''
    const wanted = this.#signature(action, name, expires, by)
    const isRight = given.length === wanted.length && timingSafeEqual(given, wanted)
    if (isRight && Number(expires) > this.#now()) {
      return JSON.parse(Buffer.from(by, 'base64url').toString()) as Principal
    }
    throw new AssayError('ACCESS_DENIED', 'the link is not valid, or its hour is over', {
      hint: 'ask for a new one',
    })
  }

  #signature(action: ContentAction, name: string, expires: string, by: string): Buffer {
    const signed = [action, name, expires, by].join('\n')
    return createHmac('sha256', this.#secret).update(signed).digest()
  }
}
