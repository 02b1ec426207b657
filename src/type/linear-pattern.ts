/**
 * Regular expressions: RE2 syntax, matched in time linear in the text. Compiled patterns are kept,
 * because the next row most likely has the same.
 */
import { RE2JS, RE2JSException } from 're2js'

/** Instructions of one program: each character of a text may take as many steps. */
const maximumProgram = 4000
/** Patterns that are kept; what is remembered while matching is up to 8 MiB for each. */
const maximumKept = 32

const flagBits: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
}

export type CompiledPattern = RE2JS

/** Why a pattern cannot be used. */
export interface PatternFault {
  readonly fault: string
}

const kept = new Map<string, RE2JS | PatternFault>()

/** The compiled pattern, or what is wrong with it or its flags. */
export function compilePattern(pattern: string, flags: string): RE2JS | PatternFault {
  if (pattern.length > maximumProgram) return { fault: 'the pattern is too long' }
  const key = `${flags}/${pattern}`
  let compiled = kept.get(key)
  if (!compiled) {
    compiled = compileAnew(pattern, flags)
    if (kept.size >= maximumKept) kept.clear()
    kept.set(key, compiled)
  }
  return compiled
}

function compileAnew(pattern: string, flags: string): RE2JS | PatternFault {
  let bits = 0
  for (const flag of flags) {
    const bit = Object.hasOwn(flagBits, flag) ? flagBits[flag] : undefined
    if (bit === undefined) {
      return { fault: `"${flag}" is no flag; flags are i (ignore case), m (lines), s (dot is all)` }
    }
    bits |= bit
  }
  try {
    const compiled = RE2JS.compile(pattern, bits)
    return compiled.programSize() > maximumProgram
      ? { fault: 'the pattern is too large' }
      : compiled
  } catch (thrown) {
    if (thrown instanceof RE2JSException) {
      return { fault: thrown.message.replace(/^error parsing regexp: /, '') }
    }
    throw thrown
  }
}
