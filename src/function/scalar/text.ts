/** Functions of texts. Whatever is no text is taken by its JSON, as LIKE does. */

import { asNumber } from '../../type/arithmetic.ts'
import { textFraction } from '../../type/hash.ts'
import { includes } from '../../type/includes.ts'
import { textOf } from '../../type/text.ts'
import type { Value } from '../../type/value.ts'
import {
  leftOf,
  lengthOf,
  levenshtein,
  padText,
  positionOf,
  repeatText,
  replaceText,
  reverseText,
  rightOf,
  splitPart,
  splitText,
  substring,
  trimText,
} from '../text.ts'
import { define, type ScalarFunction, takes, unlimited } from './definition.ts'

export const textFunctions: readonly ScalarFunction[] = [
  define('lower', takes('text', 1, 1, 'string'), {
    description: 'The text in lower case',
    example: [`lower('GPT-4')`, '"gpt-4"'],
    evaluate: ([text]) => textOf(text!).toLowerCase(),
  }),
  define('upper', takes('text', 1, 1, 'string'), {
    description: 'The text in upper case',
    example: [`upper('gpt-4')`, '"GPT-4"'],
    evaluate: ([text]) => textOf(text!).toUpperCase(),
  }),
  define('concat', takes('value, …', 1, unlimited, 'string'), {
    nulls: 'handled',
    description: 'The texts of the values joined; nulls are left out',
    example: [`concat('a', null, 1)`, '"a1"'],
    evaluate: (args) => args.map((value) => (value === null ? '' : textOf(value))).join(''),
  }),
  define('length', takes('value', 1, 1, 'integer'), {
    aliases: ['len'],
    description: 'Characters of a string, elements of an array or keys of an object',
    example: [`length('naïve')`, '5'],
    evaluate: ([value]) => lengthOf(value!),
  }),
  define('includes', takes('haystack, needle', 2, 2, 'boolean'), {
    aliases: ['contains'],
    description: 'The operator of the same name, as a function',
    example: [`includes(['a', 'b'], 'b')`, 'true'],
    evaluate: ([haystack, needle]) => includes(haystack!, needle!),
  }),
  define('starts_with', takes('text, part', 2, 2, 'boolean'), {
    description: 'Whether the text begins with the part',
    example: [`starts_with('gpt-4', 'gpt')`, 'true'],
    evaluate: ([text, part]) => textOf(text!).startsWith(textOf(part!)),
  }),
  define('ends_with', takes('text, part', 2, 2, 'boolean'), {
    description: 'Whether the text ends with the part',
    example: [`ends_with('gpt-4', '-4')`, 'true'],
    evaluate: ([text, part]) => textOf(text!).endsWith(textOf(part!)),
  }),
  define('substring', takes('text, start, count?', 2, 3, 'string'), {
    aliases: ['substr'],
    description: 'Count characters from a position on, the first of which is 1',
    example: [`substring('claude', 2, 3)`, '"lau"'],
    evaluate: ([text, start, count]) => substring(textOf(text!), start!, count),
  }),
  define('left', takes('text, count', 2, 2, 'string'), {
    description: 'The first characters; of a negative count, all but the last so many',
    example: [`left('claude', 2)`, '"cl"'],
    evaluate: ([text, count]) => leftOf(textOf(text!), count!),
  }),
  define('right', takes('text, count', 2, 2, 'string'), {
    description: 'The last characters; of a negative count, all but the first so many',
    example: [`right('claude', 2)`, '"de"'],
    evaluate: ([text, count]) => rightOf(textOf(text!), count!),
  }),
  define('position', takes('text, part', 2, 2, 'integer'), {
    aliases: ['strpos'],
    description: 'Where the part first occurs, the first character being 1; 0 if it does not',
    example: [`position('claude', 'au')`, '3'],
    evaluate: ([text, part]) => positionOf(textOf(text!), textOf(part!)),
  }),
  define('split', takes('text, separator', 2, 2, 'json'), {
    description: 'An array of the parts between separators; of all characters if it is empty',
    example: [`split('a/b/c', '/')`, '["a","b","c"]'],
    evaluate: ([text, separator]) => splitText(textOf(text!), textOf(separator!)),
  }),
  define('split_part', takes('text, separator, number', 3, 3, 'string'), {
    description: 'One of the parts, the first being 1 and the last -1; null if there is none',
    example: [`split_part('openai/gpt-4', '/', -1)`, '"gpt-4"'],
    evaluate: ([text, separator, number]) => splitPart(textOf(text!), textOf(separator!), number!),
  }),
  trimming('trim', 'ends', [`trim('  a b ')`, '"a b"'], 'both'),
  trimming('ltrim', 'beginning', [`ltrim('007', '0')`, '"7"'], 'start'),
  trimming('rtrim', 'end', [`rtrim('a/b//', '/')`, '"a/b"'], 'end'),
  padding('lpad', 'front', [`lpad('7', 3, '0')`, '"007"'], 'start'),
  padding('rpad', 'end', [`rpad('7', 3, '.')`, '"7.."'], 'end'),
  define('repeat', takes('text, count', 2, 2, 'string'), {
    description: 'The text so many times',
    example: [`repeat('ab', 2)`, '"abab"'],
    evaluate: ([text, count]) => repeatText(textOf(text!), count!),
  }),
  define('reverse', takes('text', 1, 1, 'string'), {
    description: 'The characters in opposite order',
    example: [`reverse('abc')`, '"cba"'],
    evaluate: ([text]) => reverseText(textOf(text!)),
  }),
  define('replace', takes('text, from, to', 3, 3, 'string'), {
    description: 'The text with every occurrence of one part replaced by another',
    example: [`replace('a-b-c', '-', '+')`, '"a+b+c"'],
    evaluate: ([text, from, to]) => replaceText(textOf(text!), textOf(from!), textOf(to!)),
  }),
  define('levenshtein', takes('a, b', 2, 2, 'integer'), {
    description: 'How many characters to insert, remove or replace to make one text of the other',
    example: [`levenshtein('kitten', 'sitting')`, '3'],
    evaluate: ([a, b]) => levenshtein(textOf(a!), textOf(b!)),
  }),
  define('hash_fraction', takes('text, seed?', 1, 2, 'number'), {
    description: 'A number from 0 to below 1 that is always the same for a text and a seed',
    example: [`hash_fraction('a') = hash_fraction('a', 0)`, 'true'],
    evaluate: ([text, seed = 0]) => {
      const number = asNumber(seed)
      return number === null ? null : textFraction(textOf(text!), number)
    },
  }),
]

function trimming(
  name: string,
  where: string,
  example: ScalarFunction['example'],
  ends: 'both' | 'start' | 'end',
): ScalarFunction {
  return define(name, takes('text, characters?', 1, 2, 'string'), {
    description: `The text without white space at its ${where}, or without these characters`,
    example,
    evaluate: ([text, characters]) =>
      trimText(textOf(text!), characters === undefined ? undefined : textOf(characters!), ends),
  })
}

function padding(
  name: string,
  where: string,
  example: ScalarFunction['example'],
  end: 'start' | 'end',
): ScalarFunction {
  return define(name, takes('text, length, fill?', 2, 3, 'string'), {
    description: `The text with spaces, or the fill, at its ${where} up to a length; cut if longer`,
    example,
    evaluate: ([text, length, fill = ' ']: readonly Value[]) =>
      padText(textOf(text!), length!, textOf(fill), end),
  })
}
