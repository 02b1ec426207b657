/** Regular expressions: RE2 syntax, matched in time linear in the text. */
import { RE2JS } from 're2js'
import { compilePattern } from '../type/linear-pattern.ts'
import type { Value } from '../type/value.ts'
import { checkTextLength } from './bounded-text.ts'

/** A pattern that stands for nothing gives null in every row. */
function compiledOf(pattern: Value, flags: Value): RE2JS | undefined {
  if (typeof pattern !== 'string' || typeof flags !== 'string') return undefined
  const compiled = compilePattern(pattern, flags)
  return compiled instanceof RE2JS ? compiled : undefined
}

/** Whether the pattern matches somewhere in the text. */
export function matchesPattern(text: string, pattern: Value, flags: Value): boolean | null {
  return compiledOf(pattern, flags)?.test(text) ?? null
}

/** How many matches there are that do not overlap. */
export function countMatches(text: string, pattern: Value, flags: Value): number | null {
  const matcher = compiledOf(pattern, flags)?.matcher(text)
  if (!matcher) return null
  let count = 0
  while (matcher.find()) count++
  return count
}

/**
 * A group of the first match: by number, where 0 is all of it, or by name. Without a group the first
 * one, or all of the match when the pattern has none.
 */
export function extractMatch(
  text: string,
  pattern: Value,
  group: Value | undefined,
  flags: Value,
): string | null {
  const compiled = compiledOf(pattern, flags)
  if (!compiled) return null
  const number = group === undefined ? Math.min(1, compiled.groupCount()) : groupOf(compiled, group)
  if (number === undefined) return null
  const matcher = compiled.matcher(text)
  return matcher.find() ? matcher.group(number) : null
}

/** The number of a group that the pattern has. */
export function groupOf(compiled: RE2JS, group: Value): number | undefined {
  if (typeof group === 'string') {
    const named = compiled.namedGroups()
    if (Object.hasOwn(named, group)) return named[group]
    return /^\d{1,4}$/.test(group) ? groupOf(compiled, Number(group)) : undefined
  }
  if (typeof group !== 'number' || !Number.isInteger(group)) return undefined
  return group >= 0 && group <= compiled.groupCount() ? group : undefined
}

/** Every match replaced, where the replacement may name groups (`readReplacement`). */
export function replaceMatches(
  text: string,
  pattern: Value,
  replacement: string,
  flags: Value,
): string | null {
  const compiled = compiledOf(pattern, flags)
  const parts = compiled && readReplacement(replacement, compiled)
  if (!compiled || !parts) return null
  const matcher = compiled.matcher(text)
  let result = ''
  let end = 0
  while (matcher.find()) {
    result += text.slice(end, matcher.start())
    for (const part of parts) {
      result += typeof part === 'string' ? part : (matcher.group(part) ?? '')
    }
    end = matcher.end()
    checkTextLength('regexp_replace', result.length)
  }
  return end === 0 && result === '' ? text : result + text.slice(end)
}

/**
 * Texts and numbers of groups: `\\1`, `$1`, `${1}` and `${name}` name a group, `\\0` and `$0` all of
 * the match; `\\\\` and `$$` are a backslash and a dollar. Undefined if the pattern has no such group.
 */
export function readReplacement(
  replacement: string,
  compiled: RE2JS,
): readonly (string | number)[] | undefined {
  const parts: (string | number)[] = []
  let end = 0
  for (const match of replacement.matchAll(/\\(\d|\\)|\$(\d|\$|\{(\w+)\})/g)) {
    if (match.index > end) parts.push(replacement.slice(end, match.index))
    end = match.index + match[0].length
    const name = match[3] ?? match[1] ?? match[2]!
    if (name === '\\' || name === '$') {
      parts.push(name)
      continue
    }
    const group = groupOf(compiled, name)
    if (group === undefined) return undefined
    parts.push(group)
  }
  if (end < replacement.length) parts.push(replacement.slice(end))
  return parts
}
