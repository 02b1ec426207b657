/** Functions of arrays, objects and JSON texts. Places in arrays count from 0, as in a path. */
import { asNumber } from '../../type/arithmetic.ts'
import { sameValue } from '../../type/compare.ts'
import { textOf } from '../../type/text.ts'
import type { Value } from '../../type/value.ts'
import { canonicalJson } from '../../type/write-json.ts'
import { checkTextLength } from '../bounded-text.ts'
import { arrayOf, jsonOf, keysOf, mergeObjects, valueAtText } from '../json.ts'
import { define, type ScalarFunction, takes, unlimited } from './definition.ts'

export const jsonFunctions: readonly ScalarFunction[] = [
  define('json_extract', takes('json, path', 2, 2, 'json'), {
    description:
      'What a JSON text or value has under a key, or else at a path such as a.b[-1] or $.a; null if nothing',
    example: [`json_extract('{"a": {"b": [1, 2]}}', 'a.b[-1]')`, '2'],
    evaluate: ([json, path]) => valueAtText(jsonOf(json!), path!),
  }),
  define('json_parse', takes('text', 1, 1, 'json'), {
    description: 'The value that a JSON text stands for; null if it is not JSON',
    example: [`json_parse('[1, {"a": true}]')`, '[1,{"a":true}]'],
    evaluate: ([text]) => jsonOf(text!),
  }),
  define('json_keys', takes('object', 1, 1, 'json'), {
    aliases: ['object_keys', 'vector_keys'],
    description: 'The keys of an object, in alphabetical order',
    example: [`json_keys({b: 1, a: 2})`, '["a","b"]'],
    evaluate: ([object]) => keysOf(object!),
  }),
  define('merge_objects', takes('object, …', 1, unlimited, 'json'), {
    nulls: 'handled',
    description: 'The entries of all objects; of a key that several have, the last',
    example: ['merge_objects({a: 1, b: 1}, null, {b: 2})', '{"a":1,"b":2}'],
    evaluate: (objects) => mergeObjects(objects),
  }),
  define('vector', takes('value', 1, 1, 'json'), {
    description: 'An array of numbers as it is; null for anything else',
    example: ['vector([0.5, -1])', '[0.5,-1]'],
    evaluate: ([value]) => {
      const items = arrayOf(value!)
      return items?.every((item) => asNumber(item) !== null && typeof item !== 'boolean')
        ? items
        : null
    },
  }),
  define('array_length', takes('array', 1, 1, 'integer'), {
    description: 'How many elements an array has; null for anything else',
    example: ['array_length([1, null])', '2'],
    evaluate: ([array]) => arrayOf(array!)?.length ?? null,
  }),
  define('array_contains', takes('array, value', 2, 2, 'boolean'), {
    description: 'Whether an element equals the value; null if the first is no array',
    example: [`array_contains(['a', 'b'], 'b')`, 'true'],
    evaluate: ([array, value]) => arrayOf(array!)?.some((item) => sameValue(item, value!)) ?? null,
  }),
  define('array_distinct', takes('array', 1, 1, 'json'), {
    description: 'The elements without those that equal an earlier one',
    example: [`array_distinct(['b', 'a', 'b'])`, '["b","a"]'],
    evaluate: ([array]) => {
      const items = arrayOf(array!)
      return items && withoutRepeats(items)
    },
  }),
  define('array_join', takes('array, separator', 2, 2, 'string'), {
    description: 'The texts of the elements with the separator between them; nulls are left out',
    example: [`array_join(['a', null, 1], '-')`, '"a-1"'],
    evaluate: ([array, separator]) => {
      const items = arrayOf(array!)
      return items && joinTexts(items, textOf(separator!))
    },
  }),
  define('slice', takes('array, from, to?', 2, 3, 'json'), {
    aliases: ['array_slice'],
    description: 'Elements from one place up to but not another; negative places are from the end',
    example: ['slice([1, 2, 3, 4], 1, -1)', '[2,3]'],
    evaluate: ([array, from, to]) => {
      const items = arrayOf(array!)
      const start = asNumber(from!)
      const end = to === undefined ? Number.POSITIVE_INFINITY : asNumber(to)
      return items && start !== null && end !== null ? items.slice(start, end) : null
    },
  }),
]

function withoutRepeats(items: readonly Value[]): Value[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const text = canonicalJson(item)
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew
  })
}

function joinTexts(items: readonly Value[], separator: string): string {
  const texts = items.filter((item) => item !== null).map(textOf)
  const length = texts.reduce((sum, text) => sum + text.length + separator.length, 0)
  checkTextLength('array_join', length)
  return texts.join(separator)
}
