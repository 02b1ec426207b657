/**
 * How often secrets may be guessed. A try takes its place before the work for it begins, so that many at once are no
 * more than one after the other; who was right gets it back. Nobody is locked out: tries come back one by one.
 */

import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import { AssayError } from '../error.ts'

/** Who tries. */
export interface Guesser {
  readonly address: string
  /** Whether it has a session of the user, and so is known. */
  readonly isSignedIn: boolean
}

/** A try that has begun. */
export interface Guess {
  /** It was right, and counts for nothing. */
  succeed(): void
  /** It was not looked at. */
  giveBack(): void
}

/** Those that are forgotten begin anew. */
const mostKept = 20_000

interface Allowance {
  left: number
  at: number
}

/** So many tries at once for each of many; then one comes back every so often. */
class Allowances {
  readonly #atOnce: number
  readonly #everyMs: number
  readonly #kept = new LRUCache<string, Allowance>({ max: mostKept })

  constructor(atOnce: number, everyMs: number) {
    this.#atOnce = atOnce
    this.#everyMs = everyMs
  }

  /** 0 when there is a try left. */
  waitMs(whose: string, now: number): number {
    const kept = this.#kept.get(whose)
    if (!kept) return 0
    kept.left = Math.min(this.#atOnce, kept.left + (now - kept.at) / this.#everyMs)
    kept.at = now
    return kept.left >= 1 ? 0 : (1 - kept.left) * this.#everyMs
  }

  take(whose: string, now: number): void {
    const kept = this.#kept.get(whose)
    if (kept) kept.left--
    else this.#kept.set(whose, { left: this.#atOnce - 1, at: now })
  }

  giveBack(whose: string): void {
    const kept = this.#kept.get(whose)
    if (kept) kept.left = Math.min(this.#atOnce, kept.left + 1)
  }
}

/** Of passwords of accounts, which need not be there. */
export class PasswordGuesses {
  readonly #perAddressAndAccount = new Allowances(10, 15_000)
  /** Of any accounts: one password may be tried for all of them. */
  readonly #perAddress = new Allowances(30, 5_000)
  /** From addresses of which nobody has got in: guessers may have many. */
  readonly #perAccount = new Allowances(100, 5_000)
  readonly #signedIn = new Allowances(10, 15_000)
  /** Addresses and accounts that were right. */
  readonly #known = new LRUCache<string, true>({ max: mostKept })

  /** Takes a place. Throws LIMIT_RATE, with the time to wait. */
  begin(account: string, { address, isSignedIn }: Guesser): Guess {
    const network = networkOf(address)
    const pair = `${network} ${account}`
    const places: readonly (readonly [Allowances, string])[] = isSignedIn
      ? [[this.#signedIn, account]]
      : [
          [this.#perAddressAndAccount, pair],
          [this.#perAddress, network],
          ...(this.#known.has(pair) ? [] : [[this.#perAccount, account] as const]),
        ]
    const now = Date.now()
    const wait = Math.max(...places.map(([allowances, whose]) => allowances.waitMs(whose, now)))
    if (wait > 0) throw tooMany('too many wrong passwords', wait)
    for (const [allowances, whose] of places) allowances.take(whose, now)
    const giveBack = () => {
      for (const [allowances, whose] of places) allowances.giveBack(whose)
    }
    return {
      giveBack,
      succeed: () => {
        this.#known.set(pair, true)
        giveBack()
      },
    }
  }
}

/** Of sign-ins by a provider, of which each that begins has it asked. */
export class SignInTries {
  readonly #perAddress = new Allowances(30, 5_000)

  /** Takes a place. Throws LIMIT_RATE, with the time to wait. */
  begin(address: string): Guess {
    const network = networkOf(address)
    const now = Date.now()
    const wait = this.#perAddress.waitMs(network, now)
    if (wait > 0) throw tooMany('too many sign-ins that failed', wait)
    this.#perAddress.take(network, now)
    const giveBack = () => this.#perAddress.giveBack(network)
    return { giveBack, succeed: giveBack }
  }
}

/** Of keys, which cost little to look up: for those that somebody has chosen, and were easy to guess. */
export class KeyGuesses {
  readonly #perAddress = new Allowances(3000, 20)
  /** Until when somebody has to wait; mostly nobody has. */
  #busyUntil = 0

  /** Throws LIMIT_RATE where too many wrong keys came from the address, whether this one is right or not. */
  require(address: () => string): void {
    const now = Date.now()
    if (now > this.#busyUntil) return
    const wait = this.#perAddress.waitMs(networkOf(address()), now)
    if (wait > 0) throw tooMany('too many wrong keys', wait)
  }

  noteWrong(address: string): void {
    const now = Date.now()
    const network = networkOf(address)
    const isLate = this.#perAddress.waitMs(network, now) > 0
    if (!isLate) this.#perAddress.take(network, now)
    if (this.#perAddress.waitMs(network, now) > 0) this.#busyUntil = now + 60_000
  }
}

/** Who has one address of IPv6 has all with its first half. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [before = '', after] = inGroups(address).split('::')
  const groups = before === '' ? [] : before.split(':')
  const last = after === undefined || after === '' ? [] : after.split(':')
  while (after !== undefined && groups.length + last.length < 8) groups.push('0')
  const numbers = [...groups, ...last].map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
  // IPv4 as IPv6 has it.
  if (numbers.slice(0, 5).every((number) => number === '0') && numbers[5] === 'ffff') {
    return numbers.slice(6).join(':')
  }
  return numbers.slice(0, 4).join(':')
}

/** The same with all of it in groups: its end may be written as an address of IPv4. */
function inGroups(address: string): string {
  const [, start, ...bytes] = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address) ?? []
  if (start === undefined) return address
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number)
  return `${start}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

function tooMany(what: string, waitMs: number): AssayError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new AssayError('LIMIT_RATE', `${what} came from here`, {
    hint: `try again in ${seconds} s`,
    retryAfterSeconds: seconds,
  })
}
