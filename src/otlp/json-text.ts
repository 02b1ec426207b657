/** Attributes that are JSON in a text, since attributes themselves are flat. */
import { AssayError } from '../error.ts'
import { JsonScanner, maximumDepth } from '../json/scan.ts'
import { parseJson } from '../type/parse-json.ts'
import type { Value } from '../type/value.ts'
import type { Remark } from './any-value.ts'
import { parseExactly } from './exact-number.ts'

/** A value becomes part of a row, and that of a request, which may nest so deep together. */
const deepest = maximumDepth - 16

/** A text that is an object or array in JSON as what it says, anything else as it is. */
export function readJsonText(value: Value, remark: Remark = ignored): Value {
  return isContainer(value) ? parsed(value, parseJson, remark, ignored) : value
}

/** The same for what is stored: its numbers keep their texts. */
export function readJsonExactly(value: Value, remark: Remark): Value {
  return isContainer(value) ? parsed(value, parseExactly, remark, ignored) : value
}

function isContainer(value: Value): value is string {
  return typeof value === 'string' && /^\s*[[{]/.test(value)
}

/**
 * A text as the value that it is in JSON, anything else as it is; what is not JSON is remarked on.
 * Its numbers keep their texts.
 */
export function readAnyJson(value: Value, remark: Remark): Value {
  return typeof value === 'string' ? parsed(value, parseExactly, remark, remark) : value
}

/** The same, where a text that is not JSON is as good. */
export function readJsonOrText(value: Value, remark: Remark): Value {
  return typeof value === 'string' ? parsed(value, parseExactly, remark, ignored) : value
}

const ignored: Remark = () => undefined

function parsed(
  text: string,
  parse: (text: string) => Value,
  onDeep: Remark,
  onFault: Remark,
): Value {
  try {
    if (mayBeDeep(text)) {
      const bytes = Buffer.from(text)
      new JsonScanner(bytes, 0, bytes.length, deepest).value()
    }
    return parse(text)
  } catch (thrown) {
    const isDeep = thrown instanceof AssayError && thrown.code === 'REQUEST_TOO_DEEP'
    if (isDeep) onDeep(`is JSON that nests deeper than ${deepest} levels, and is kept as a text`)
    else onFault('is not JSON, and is kept as a text')
    return text
  }
}

function mayBeDeep(text: string): boolean {
  return text.length > deepest && text.split(/[[{]/, deepest + 2).length > deepest + 1
}
