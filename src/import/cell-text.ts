/** Values of Parquet and Arrow as JSON, with all that is in them. What JSON has no form for is an error. */
import { copyOf } from '../json/copy-bytes.ts'
import { decodeUtf8 } from './encoding.ts'

/** Parts of a second that times count. */
export type TimeUnit = 'second' | 'millisecond' | 'microsecond' | 'nanosecond'

const perSecond: Readonly<Record<TimeUnit, bigint>> = {
  second: 1n,
  millisecond: 1000n,
  microsecond: 1_000_000n,
  nanosecond: 1_000_000_000n,
}

const secondsOfDay = 86_400

/** A double; throws for what is not finite. A negative zero is 0. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`${value}, which JSON cannot say`)
  return String(value)
}

/** @param unscaled counted in the last of `scale` digits after the point, which may be fewer than none */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return String(unscaled * 10n ** BigInt(-scale))
  const sign = unscaled < 0n ? '-' : ''
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const fraction = digits.slice(-scale).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`
}

/** A whole number in two's complement, the highest byte first. */
export function bigEndianInteger(bytes: Uint8Array): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return BigInt.asIntN(8 * bytes.length, value)
}

export function littleEndianInteger(bytes: Uint8Array): bigint {
  return bigEndianInteger(copyOf(bytes).reverse())
}

/** Throws unless the bytes are UTF-8. */
export function textOfUtf8(bytes: Uint8Array): string {
  return JSON.stringify(decodeUtf8(bytes))
}

/** Throws unless the bytes are JSON, which goes as it is, with all digits. */
export function jsonOfUtf8(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes)
  try {
    JSON.parse(text)
  } catch {
    throw new Error(`not JSON: ${text.slice(0, 40)}`)
  }
  return text.trim()
}

/** In base64. */
export function bytesText(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  }
  return `"${btoa(binary)}"`
}

export function uuidText(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `"${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}"`
}

/** A number of `unit`s since 1970, in UTC. */
export function timestampText(count: bigint, unit: TimeUnit): string {
  const scale = perSecond[unit]
  const fraction = ((count % scale) + scale) % scale
  const seconds = Number((count - fraction) / scale)
  return `"${dateTime(seconds * 1000).slice(0, -5)}${fractionText(fraction, scale)}Z"`
}

export function dateText(days: number): string {
  return `"${dateTime(days * secondsOfDay * 1000).replace(/T.*/, '')}"`
}

function dateTime(ms: number): string {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) throw new Error('a time beyond the calendar')
  return date.toISOString()
}

/** A time of day. */
export function timeText(count: bigint, unit: TimeUnit): string {
  const scale = perSecond[unit]
  const seconds = Number(count / scale)
  if (count < 0n || seconds > secondsOfDay) throw new Error('a time of no day')
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':')
  return `"${clock}${fractionText(count % scale, scale)}"`
}

/** Thirds of digits, as few as it takes. */
function fractionText(fraction: bigint, scale: bigint): string {
  if (fraction === 0n) return ''
  const digits = String(fraction).padStart(String(scale).length - 1, '0')
  return `.${digits.replace(/(000)+$/, '')}`
}

/** A duration of ISO 8601, whose parts are as they were given; each carries its own sign. */
export function durationText(months: number, days: number, count: bigint, unit: TimeUnit): string {
  const scale = perSecond[unit]
  const date = `${part(Math.trunc(months / 12), 'Y')}${part(months % 12, 'M')}${part(days, 'D')}`
  const seconds = count / scale
  const fraction = count % scale
  const rest = seconds % 60n
  const sign = count < 0n ? '-' : ''
  const digits = fractionText(fraction < 0n ? -fraction : fraction, scale)
  const last = rest === 0n && digits === '' ? '' : `${sign}${rest < 0n ? -rest : rest}${digits}S`
  const time = `${part(seconds / 3600n, 'H')}${part((seconds / 60n) % 60n, 'M')}${last}`
  if (date === '' && time === '') return '"PT0S"'
  return time === '' ? `"P${date}"` : `"P${date}T${time}"`
}

function part(value: number | bigint, letter: string): string {
  return Number(value) === 0 ? '' : `${value}${letter}`
}

/** Half precision, from its 16 bits. */
export function float16(bits: number): number {
  const sign = bits >> 15 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * 2 ** -24 * fraction
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * 2 ** (exponent - 25) * (1024 + fraction)
}

/** An object of pairs. Throws when a name comes twice, of which JSON would keep one. */
export function objectText(pairs: Iterable<readonly [name: string, json: string]>): string {
  const names = new Set<string>()
  const members: string[] = []
  for (const [name, json] of pairs) {
    if (names.has(name)) throw new Error(`a map that has "${name}" twice`)
    names.add(name)
    members.push(`${JSON.stringify(name)}:${json}`)
  }
  return `{${members.join(',')}}`
}

/** The name that a key of a map has as a member: a text itself, or the JSON of anything else. */
export function memberName(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}
