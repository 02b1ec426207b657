/**
 * Finds what the built-in patterns stand for around a trigger, in bytes of UTF-8. Each looks at a
 * short piece of text, so that all of a text is looked at in time linear in its length.
 */

import { keyLength, keyStarts, privateKeyStart } from './provider-keys.ts'
import type { BuiltInPattern } from './rule.ts'
import type { Trigger } from './triggers.ts'

/** Told of each match. */
export type Found = (start: number, end: number) => void

/** Looks for matches around a trigger that ends at `at`, from `from` on and before `end`; returns where to go on. */
export type MatchFinder = (
  bytes: Buffer,
  from: number,
  end: number,
  at: number,
  found: Found,
) => number

/** What shows that a text may have a match. */
export const triggersOf: { readonly [type in BuiltInPattern]: Omit<Trigger, 'bit'> } = {
  email: { texts: ['@'] },
  phone: { texts: ['+'], hasDigits: true, hasPairs: true },
  card: { texts: [], hasDigits: true },
  iban: { texts: [], hasDigits: true },
  key: { texts: keyStarts },
  jwt: { texts: ['eyJ'] },
}

export const findersOf: { readonly [type in BuiltInPattern]: MatchFinder } = {
  email: findEmail,
  phone: findPhones,
  card: findCards,
  iban: findIban,
  key: findKey,
  jwt: findToken,
}

/** Bytes of a kind, as a table. `letters` beyond ASCII are those of two bytes: Latin, Greek, Cyrillic, … */
function table(characters: string, hasLetters = false): Uint8Array {
  const found = new Uint8Array(256)
  for (const byte of Buffer.from(characters)) found[byte] = 1
  if (hasLetters) found.fill(1, 0x80, 0xc0).fill(1, 0xc3, 0xe0)
  return found
}

const digits = '0123456789'
const alphanumeric = `${digits}ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz`
const isAlphanumeric = table(alphanumeric)
const isDigit = table(digits)
const isLocal = table(`${alphanumeric}._%+-'&!#$*?^~=/{|}\``, true)
const startsLocal = table(`${alphanumeric}_+`, true)
const isDomain = table(`${alphanumeric}.-`, true)
const isOfPhone = table(`${digits}+().-/ `)
const isOfCard = table(`${digits}- `)
const isOfIban = table(`${digits}ABCDEFGHIJKLMNOPQRSTUVWXYZ `)
const isOfPart = table(`${alphanumeric}_-`)
const dot = 0x2e
const isOfToken = table(`${alphanumeric}_-.+/=`)

const mostLocal = 128
const mostDomain = 255

function findEmail(bytes: Buffer, from: number, end: number, at: number, found: Found): number {
  const sign = at - 1
  let start = sign
  const first = Math.max(from, sign - mostLocal)
  while (start > first && isLocal[bytes[start - 1]!] === 1) start--
  start = localStart(bytes, start, sign)
  const stop = domainEnd(bytes, at, Math.min(end, at + mostDomain))
  if (start === sign || stop === at) return at
  found(start, stop)
  return stop
}

/** Signs that no address begins with are not of it, nor is what `=`, `/` and the like separate. */
function localStart(bytes: Buffer, start: number, sign: number): number {
  let begin = start
  for (let at = start; at < sign; at++) {
    const byte = bytes[at]!
    if (byte === 0x3d || byte === 0x2f || byte === 0x3f || byte === 0x26) begin = at + 1
    else if (byte === 0x7b || byte === 0x7c || byte === 0x7d || byte === 0x60) begin = at + 1
  }
  while (begin < sign && startsLocal[bytes[begin]!] !== 1) begin++
  // Not from the middle of a character.
  while (begin < sign && (bytes[begin]! & 0xc0) === 0x80) begin++
  return begin
}

/** Where the domain ends that begins at `start`; `start` if there is none. */
function domainEnd(bytes: Buffer, start: number, end: number): number {
  let stop = start
  while (stop < end && isDomain[bytes[stop]!] === 1) {
    const isDouble = bytes[stop] === 0x2e && (stop === start || bytes[stop - 1] === 0x2e)
    if (isDouble) break
    stop++
  }
  while (stop > start && (bytes[stop - 1] === 0x2e || bytes[stop - 1] === 0x2d)) stop--
  let last = stop - 1
  while (last > start && bytes[last] !== 0x2e) last--
  if (last <= start || stop - last < 3) return start
  for (let at = last + 1; at < stop; at++) if (isDigit[bytes[at]!] !== 1) return stop
  return start
}

const phones = new RegExp(
  [
    // +49 30 123456
    '(?<![\\w+])\\+(?:[ .\\-/()]{0,2}\\d){8,15}(?!\\d)',
    // (555) 123-4567
    '(?<![\\w.+-])(?:1[ .-])?(?:\\(\\d{3}\\) ?|\\d{3}[ .-])\\d{3}[ .-]\\d{4}(?![\\w-])',
    // 06 12 34 56 78
    '(?<![\\w.+-])0[1-9](?:[ .-]\\d\\d){4}(?![\\w-])',
    // 0171 1234567
    '(?<![\\w.+-])\\(?0\\d{2,4}\\)?(?:[ /-]{1,3}\\d{2,9}){1,4}(?![\\w-])',
  ].join('|'),
  'g',
)

const leastPhone = 8

/** Of a phone number with a nought in front. */
const nationalDigits = { least: 9, most: 13 }

function findPhones(bytes: Buffer, from: number, end: number, at: number, found: Found): number {
  const [start, stop] = around(bytes, from, end, at, isOfPhone)
  if (digitsIn(bytes, start, stop) < leastPhone) return stop
  const text = bytes.toString('latin1', Math.max(from, start - 1), Math.min(end, stop + 1))
  const offset = Math.max(from, start - 1)
  phones.lastIndex = 0
  for (let each = phones.exec(text); each; each = phones.exec(text)) {
    const { 0: match, index } = each
    const count = match.replace(/\D/g, '').length
    const isNational = /^\(?0/.test(match)
    if (isNational && (count < nationalDigits.least || count > nationalDigits.most)) continue
    found(offset + index, offset + index + match.length)
  }
  return stop
}

/** The piece of bytes of a kind that the trigger is in. */
function around(
  bytes: Buffer,
  from: number,
  end: number,
  at: number,
  kind: Uint8Array,
): readonly [number, number] {
  let start = at
  while (start > from && kind[bytes[start - 1]!] === 1) start--
  let stop = at
  while (stop < end && kind[bytes[stop]!] === 1) stop++
  return [start, stop]
}

function digitsIn(bytes: Buffer, start: number, stop: number): number {
  let count = 0
  for (let at = start; at < stop; at++) count += isDigit[bytes[at]!]!
  return count
}

const leastCard = 13
const mostCard = 19

function findCards(bytes: Buffer, from: number, end: number, at: number, found: Found): number {
  const [start, stop] = around(bytes, from, end, at, isOfCard)
  if (digitsIn(bytes, start, stop) < leastCard) return stop
  for (let begin = start; begin < stop; begin++) {
    if (isDigit[bytes[begin]!] !== 1 || (begin > start && isDigit[bytes[begin - 1]!] === 1))
      continue
    if (begin === start && begin > from && isOfWord(bytes[begin - 1]!)) continue
    const last = cardEnd(bytes, begin, stop, end)
    if (last === begin) continue
    found(begin, last)
    begin = last
  }
  return stop
}

/** The end of the longest card number that begins at `start`; `start` if none does. */
function cardEnd(bytes: Buffer, start: number, stop: number, end: number): number {
  const first = bytes[start]! - 0x30
  if (first < 2 || first > 6) return start
  let number = ''
  let last = start
  for (let at = start; at < stop && number.length <= mostCard; at++) {
    const byte = bytes[at]!
    if (isDigit[byte] !== 1) {
      // One separator, between digits.
      if (at + 1 === stop || isDigit[bytes[at + 1]!] !== 1) break
      continue
    }
    number += String.fromCharCode(byte)
    const next = at + 1 < end ? bytes[at + 1]! : 0x20
    const isEnd = isDigit[next] !== 1 && !isAlphanumeric[next] && next !== 0x5f
    if (isEnd && number.length >= leastCard && isCardNumber(number)) last = at + 1
  }
  return last
}

function isOfWord(byte: number): boolean {
  return isAlphanumeric[byte] === 1 || byte === 0x5f || byte === 0x2e
}

/** Whether the digits are those of a payment card, by their first ones and the check digit. */
export function isCardNumber(number: string): boolean {
  if (number.length < leastCard || number.length > mostCard) return false
  if (!/^(?:[3-6]|2[2-7])/.test(number)) return false
  let sum = 0
  for (let i = 0; i < number.length; i++) {
    const value = number.charCodeAt(number.length - 1 - i) - 0x30
    const doubled = i % 2 === 1 ? value * 2 : value
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

const iban =
  /(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g
const longestIban = 46

function findIban(bytes: Buffer, from: number, end: number, at: number, found: Found): number {
  const start = Math.max(from, at - longestIban)
  if (!mayBeIban(bytes, start, at)) return at
  const text = bytes.toString('latin1', start, Math.min(end, at + longestIban))
  let last = at
  for (const { 0: match, index } of text.matchAll(iban)) {
    const length = ibanLength(match)
    if (length === 0) continue
    found(start + index, start + index + length)
    last = Math.max(last, start + index + length)
  }
  return last
}

/** Whether a country and its check digits come before, in a row of capital letters and digits. */
function mayBeIban(bytes: Buffer, first: number, at: number): boolean {
  let start = at
  while (start > first && isOfIban[bytes[start - 1]!] === 1) start--
  for (let i = start; i + 4 <= at; i++) {
    const isCountry = isCapital(bytes[i]!) && isCapital(bytes[i + 1]!)
    if (isCountry && isDigit[bytes[i + 2]!] === 1 && isDigit[bytes[i + 3]!] === 1) return true
  }
  return false
}

function isCapital(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a
}

/** Of the longest beginning of the text that is an IBAN: words may follow it that look alike. */
function ibanLength(text: string): number {
  for (let end = text.length; end >= 15; end--) {
    if (end < text.length && text[end] !== ' ') continue
    if (isIban(text.slice(0, end).replaceAll(' ', ''))) return end
  }
  return 0
}

/** Whether the check digits are right: the number, read with letters as numbers, leaves 1 divided by 97. */
export function isIban(text: string): boolean {
  if (text.length < 15 || text.length > 34) return false
  let rest = 0
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const longestKey = 256
const longestPrivateKey = 64 * 1024

function findKey(bytes: Buffer, from: number, end: number, at: number, found: Found): number {
  const before = bytes.toString('latin1', Math.max(from, at - 16), at)
  const start = keyStarts.find((one) => before.endsWith(one))
  if (start === undefined) return at
  const begin = at - start.length
  if (begin > 0 && isAlphanumeric[bytes[begin - 1]!] === 1) return at
  const most = start === privateKeyStart ? longestPrivateKey : longestKey
  const length = keyLength(bytes.toString('latin1', begin, Math.min(end, begin + most)))
  if (length === 0) return at
  const stop = tokenEnd(bytes, begin + length, end, length >= most)
  found(begin, stop)
  return stop
}

/** What is longer than what was looked at ends with its token. */
function tokenEnd(bytes: Buffer, from: number, end: number, isCut: boolean): number {
  let stop = from
  while (isCut && stop < end && isOfToken[bytes[stop]!] === 1) stop++
  return stop
}

/** Three parts with dots between them, of which the last may be empty or missing. */
function findToken(bytes: Buffer, _: number, end: number, at: number, found: Found): number {
  const begin = at - 3
  if (begin > 0 && isAlphanumeric[bytes[begin - 1]!] === 1) return at
  const header = partEnd(bytes, at, end)
  // Whatever else begins in the part has no dot behind it either.
  if (header === end || bytes[header] !== dot) return header
  const payload = partEnd(bytes, header + 1, end)
  if (header - at < 5 || payload - header < 3) return header
  const stop = bytes[payload] === dot && payload < end ? partEnd(bytes, payload + 1, end) : payload
  found(begin, stop)
  return stop
}

function partEnd(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && isOfPart[bytes[at]!] === 1) at++
  return at
}
