/** Passwords: kept as what scrypt makes of them, checked a few at a time. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { AssayError } from '../error.ts'

/** As it is kept: both in base64. */
export interface PasswordHash {
  readonly salt: string
  readonly hash: string
}

/** 32 MiB and some 100 ms for each try. */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 }
const hashBytes = 32

/** Each takes memory and a thread of the process: more at once would stand in the way of the rest. */
const atOnce = 2
const mostWaiting = 50

const shortest = 10
const longest = 1000

const saltBytes = 16
const noSalt = Buffer.alloc(saltBytes).toString('base64')

/** @param known salt of another password of the same user, so that one try serves for both */
export async function hashPassword(password: string, known?: string): Promise<PasswordHash> {
  if (password.length < shortest || password.length > longest) {
    throw new AssayError('REQUEST_INVALID', `the password has ${password.length} characters`, {
      path: 'password',
      hint: `give ${shortest} to ${longest}`,
    })
  }
  const salt = known ?? randomBytes(saltBytes).toString('base64')
  return { salt, hash: (await derive(password, salt)).toString('base64') }
}

/**
 * The one of the hashes that is the password's. Of one salt it takes as long as of no hash at all: one
 * try.
 */
export async function findPassword<Kept extends PasswordHash>(
  password: string,
  kept: readonly Kept[],
): Promise<Kept | undefined> {
  if (password.length > longest) return undefined
  const salts = new Set(kept.map(({ salt }) => salt))
  let found: Kept | undefined
  for (const salt of salts.size === 0 ? [noSalt] : salts) {
    const hash = await derive(password, salt)
    for (const one of kept) {
      const isIt = one.salt === salt && timingSafeEqual(hash, Buffer.from(one.hash, 'base64'))
      if (isIt) found ??= one
    }
  }
  return found
}

const waiting: (() => void)[] = []
let running = 0

async function derive(password: string, salt: string): Promise<Buffer> {
  if (running >= atOnce) {
    if (waiting.length >= mostWaiting) {
      throw new AssayError('LIMIT_RATE', 'too many passwords are being checked', {
        retryAfterSeconds: 5,
      })
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running++
  try {
    return await new Promise((resolve, reject) => {
      const bytes = Buffer.from(salt, 'base64')
      scrypt(password.normalize('NFKC'), bytes, hashBytes, cost, (error, key) => {
        if (error) reject(error)
        else resolve(key)
      })
    })
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}
