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

/** Of nobody's password; checking against it takes as long as against any. */
const noHash: PasswordHash = {
  salt: Buffer.alloc(16).toString('base64'),
  hash: Buffer.alloc(hashBytes).toString('base64'),
}

export async function hashPassword(password: string): Promise<PasswordHash> {
  if (password.length < shortest || password.length > longest) {
    throw new AssayError('REQUEST_INVALID', `the password has ${password.length} characters`, {
      path: 'password',
      hint: `give ${shortest} to ${longest}`,
    })
  }
  const salt = randomBytes(16)
  const hash = await derive(password, salt)
  return { salt: salt.toString('base64'), hash: hash.toString('base64') }
}

/** Takes as long whether there is a hash to compare with or not. */
export async function isPassword(password: string, kept = noHash): Promise<boolean> {
  if (password.length > longest) return false
  const hash = await derive(password, Buffer.from(kept.salt, 'base64'))
  return timingSafeEqual(hash, Buffer.from(kept.hash, 'base64')) && kept !== noHash
}

const waiting: (() => void)[] = []
let running = 0

async function derive(password: string, salt: Buffer): Promise<Buffer> {
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
      scrypt(password.normalize('NFKC'), salt, hashBytes, cost, (error, key) => {
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
