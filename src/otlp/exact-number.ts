/** Numbers in attributes that are JSON keep their texts, as those of rows that are sent as JSON do. */
import { ExactNumber, mayHaveExactNumbers, numberOfText } from '../json/exact-number.ts'
import { parseJson, readJson } from '../type/parse-json.ts'
import { isObject, type JsonObject, type Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'

/**
 * As `parseJson`, and numbers keep their texts. Those that no `Value` is equal to, `1e400` and `1.10`, look like
 * objects; only `writeRow` knows them.
 */
export function parseExactly(text: string): Value {
  return mayHaveExactNumbers(text) ? (readJson(text, numberOf) as Value) : parseJson(text)
}

function numberOf(text: string): Value | ExactNumber {
  return /^-?[1-9]\d*$/.test(text) ? parseJson(text) : numberOfText(text)
}

/** Whether it is a number, one that keeps its text too. */
export function isNumber(value: Value): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || isExact(value)
}

/** Whether it is no object, though it looks like one. */
export function isExact(value: unknown): value is ExactNumber {
  return value instanceof ExactNumber
}

/** A row as JSON, with the texts of its numbers. */
export function writeRow(row: JsonObject): string {
  return hasExact(row) ? write(row) : writeJson(row)
}

function hasExact(value: Value): boolean {
  if (Array.isArray(value)) return value.some(hasExact)
  if (value === null || !isObject(value)) return false
  return isExact(value) || Object.values(value).some(hasExact)
}

function write(value: Value): string {
  if (isExact(value)) return value.text
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (value === null || !isObject(value)) return writeJson(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${write(member)}`,
  )
  return `{${members.join(',')}}`
}
