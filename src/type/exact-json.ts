/**
 * JSON that is kept rather than calculated with: every number comes out with the text that it went in with, also one
 * that a double cannot hold (`9007199254740993`, `1e400`) or would print in another way (`1.10`).
 */
import {
  ExactNumber,
  isJsonObject,
  mayHaveExactNumbers,
  numberOfText,
} from '../json/exact-number.ts'
import { setMember } from '../json/set-member.ts'
import { readJson } from './parse-json.ts'

export { ExactNumber, isJsonObject, writeExactJson } from '../json/exact-number.ts'

/** Throws a SyntaxError, as `JSON.parse` does, where the text is not JSON. */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return mayHaveExactNumbers(text) ? readJson(text, numberOfText) : value
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
