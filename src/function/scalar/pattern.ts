/** Functions of regular expressions, which look at the text of any value as LIKE does. */
import { compilePattern } from '../../type/linear-pattern.ts'
import { textOf } from '../../type/text.ts'
import type { Value } from '../../type/value.ts'
import {
  countMatches,
  extractMatch,
  groupOf,
  matchesPattern,
  readReplacement,
  replaceMatches,
} from '../pattern.ts'
import { type ArgumentFault, define, type ScalarFunction, takes } from './definition.ts'

export const patternFunctions: readonly ScalarFunction[] = [
  define('regexp_match', takes('text, pattern, flags?', 2, 3, 'boolean'), {
    aliases: ['regexp_matches', 'regexp_like'],
    description: 'Whether the pattern matches somewhere; flag i ignores case, as ~* does',
    example: [`regexp_match('gpt-4o-mini', '^gpt-\\\\d')`, 'true'],
    check: ([, pattern, flags]) => patternFault(pattern, flags, 2),
    evaluate: ([text, pattern, flags = '']) => matchesPattern(textOf(text!), pattern!, flags),
  }),
  define('regexp_extract', takes('text, pattern, group?, flags?', 2, 4, 'string'), {
    description:
      'A group of the first match by number or name: the first one if not said, or all of the match',
    example: [`regexp_extract('answer: 42', 'answer: (\\\\d+)')`, '"42"'],
    check: ([, pattern, group, flags]) =>
      patternFault(pattern, flags, 3) ?? groupFault(pattern, group),
    evaluate: ([text, pattern, group, flags = '']) =>
      extractMatch(textOf(text!), pattern!, group, flags),
  }),
  define('regexp_replace', takes('text, pattern, replacement, flags?', 3, 4, 'string'), {
    description:
      'The text with every match replaced; $1 or \\1 stands for a group, $0 for all of it',
    example: [`regexp_replace('2024-05', '(\\\\d+)-(\\\\d+)', '$2/$1')`, '"05/2024"'],
    check: ([, pattern, replacement, flags]) =>
      patternFault(pattern, flags, 3) ?? replacementFault(pattern, replacement),
    evaluate: ([text, pattern, replacement, flags = '']) =>
      replaceMatches(textOf(text!), pattern!, textOf(replacement!), flags),
  }),
  define('regexp_count', takes('text, pattern, flags?', 2, 3, 'integer'), {
    description: 'How many times the pattern matches, without overlap',
    example: [`regexp_count('a1b22', '\\\\d+')`, '2'],
    check: ([, pattern, flags]) => patternFault(pattern, flags, 2),
    evaluate: ([text, pattern, flags = '']) => countMatches(textOf(text!), pattern!, flags),
  }),
]

const syntaxHint = 'patterns are those of RE2: without look-around and back-references'

/** @param flagsArgument the place of the flags among the arguments */
function patternFault(
  pattern: Value | undefined,
  flags: Value | undefined,
  flagsArgument: number,
): ArgumentFault | undefined {
  if (typeof flags === 'string') {
    const compiled = compilePattern('', flags)
    if ('fault' in compiled) {
      return { argument: flagsArgument, message: compiled.fault, hint: "write 'i' to ignore case" }
    }
  }
  if (pattern === undefined || pattern === null) return undefined
  if (typeof pattern !== 'string') {
    return { argument: 1, message: 'a pattern is a text', hint: syntaxHint }
  }
  const compiled = compilePattern(pattern, '')
  if (!('fault' in compiled)) return undefined
  return {
    argument: 1,
    message: `this is no regular expression: ${compiled.fault}`,
    hint: syntaxHint,
  }
}

function groupFault(
  pattern: Value | undefined,
  group: Value | undefined,
): ArgumentFault | undefined {
  if (typeof pattern !== 'string' || group === undefined || group === null) return undefined
  const compiled = compilePattern(pattern, '')
  if ('fault' in compiled || groupOf(compiled, group) !== undefined) return undefined
  return {
    argument: 2,
    message: `the pattern has no group ${textOf(group)}`,
    hint: 'groups are counted from 1; 0 is all of the match',
  }
}

function replacementFault(
  pattern: Value | undefined,
  replacement: Value | undefined,
): ArgumentFault | undefined {
  if (typeof pattern !== 'string' || typeof replacement !== 'string') return undefined
  const compiled = compilePattern(pattern, '')
  if ('fault' in compiled || readReplacement(replacement, compiled)) return undefined
  return {
    argument: 2,
    message: 'the replacement names a group that the pattern does not have',
    hint: 'write $$ for a dollar and \\\\ for a backslash',
  }
}
