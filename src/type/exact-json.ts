/**
 * JSON that is kept rather than calculated with: every number comes out with the text that it went in with, also one
 * that a double cannot hold (`9007199254740993`, `1e400`) or would print in another way (`1.10`).
 */
import { setMember } from '../json/set-member.ts'
import { readJson } from './parse-json.ts'

/** A number whose text is not what its double prints. */
export class ExactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** Called by `JSON.stringify`, which can write no such number. */
  toJSON(): number {
    wasMet = true
    return Number(this.text)
  }
}

/** Whether `JSON.stringify` met an exact number since this was last false. */
let wasMet = false

/** What may be a number: it stands where a value of JSON does, or within a text. */
const numberPattern = /(?<![^[:,\s])-?\d[\d.eE+-]*(?![^\]},\s])/g

/** Throws a SyntaxError, as `JSON.parse` does, where the text is not JSON. */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  for (const [number] of text.matchAll(numberPattern)) {
    if (String(Number(number)) !== number) return readJson(text, exactNumber)
  }
  return value
}

function exactNumber(text: string): number | ExactNumber {
  const number = Number(text)
  return String(number) === text ? number : new ExactNumber(text)
}

/** As `JSON.stringify` writes it, with exact numbers as their texts. */
export function writeExactJson(value: unknown): string {
  wasMet = false
  const text = JSON.stringify(value)
  return wasMet ? write(value) : text
}

function write(value: unknown): string {
  if (value instanceof ExactNumber) return value.text
  if (Array.isArray(value)) return `[${value.map((item) => write(item ?? null)).join(',')}]`
  if (!isJsonObject(value) || 'toJSON' in value) return JSON.stringify(value)
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : `${JSON.stringify(name)}:${write(member)}`,
  )
  return `{${members.join(',')}}`
}

/** An object of JSON: no array, no number. */
export function isJsonObject(value: unknown): value is { readonly [name: string]: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  )
}

/** Names that a library is given with a space more, as it would take the first of them for an object's prototype. */
const placedName = /^__proto__ *$/

/** For what knows doubles alone, and objects without a member `__proto__`. The same value if that is all it has. */
export function toPlainJson(value: unknown): unknown {
  if (value instanceof ExactNumber) return Number(value.text)
  if (Array.isArray(value)) {
    const items = value.map(toPlainJson)
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isJsonObject(value)) return value
  let isSame = true
  const members = Object.entries(value).map(([name, member]) => {
    const plain = toPlainJson(member)
    const isPlaced = placedName.test(name)
    isSame &&= plain === member && !isPlaced
    return [isPlaced ? `${name} ` : name, plain] as const
  })
  return isSame ? value : Object.fromEntries(members)
}

/** What was made of `toPlainJson(exact)` without changing names, with the numbers and names of `exact`. */
export function fromPlainJson(plain: unknown, exact: unknown): unknown {
  if (plain === exact) return plain
  if (exact instanceof ExactNumber) return typeof plain === 'number' ? exact : plain
  if (Array.isArray(plain)) {
    if (!Array.isArray(exact)) return plain
    return plain.map((item, i) => fromPlainJson(item, exact[i]))
  }
  if (!isJsonObject(plain) || !isJsonObject(exact)) return plain
  const members: { [name: string]: unknown } = {}
  for (const [placed, member] of Object.entries(plain)) {
    const name = placedName.test(placed) ? placed.slice(0, -1) : placed
    const given = Object.hasOwn(exact, name) ? exact[name] : member
    setMember(members, name, fromPlainJson(member, given))
  }
  return members
}
