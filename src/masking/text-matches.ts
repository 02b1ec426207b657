/** Where the patterns of rules match in a text, with overlapping matches as one. */
import { type CompiledPattern, compilePattern } from '../type/linear-pattern.ts'
import { findersOf, type MatchFinder, triggersOf } from './find-match.ts'
import { builtInPatterns, type MaskingRule } from './rule.ts'
import { type Trigger, TriggerScan } from './triggers.ts'

/** How a rule's pattern is looked for. */
interface Search {
  /** What shows that it may match; 0: always. */
  readonly bit: number
  readonly finder: MatchFinder | undefined
  readonly expression: CompiledPattern | undefined
}

export interface TextMatch {
  start: number
  end: number
  /** The first of the rules that match here. */
  rule: number
}

/** Beyond them there are no more bits: such expressions are tried on every text. */
const mostBits = 30

export class TextMatches {
  readonly scan: TriggerScan
  readonly #searches: readonly (Search | undefined)[]

  constructor(rules: readonly MaskingRule[]) {
    const triggers: Trigger[] = []
    this.#searches = rules.map(({ pattern }) => {
      if (!pattern) return undefined
      if (pattern.type !== 'expression') {
        const bit = 1 << builtInPatterns.indexOf(pattern.type)
        triggers.push({ bit, ...triggersOf[pattern.type] })
        return { bit, finder: findersOf[pattern.type], expression: undefined }
      }
      const compiled = compilePattern(pattern.expression, pattern.flags ?? '')
      if ('fault' in compiled) return undefined
      const start = literalStart(pattern.expression, pattern.flags ?? '')
      const next = builtInPatterns.length + triggers.length
      const hasBit = start !== undefined && next < mostBits
      const bit = hasBit ? 1 << next : 0
      if (hasBit) triggers.push({ bit, texts: [start] })
      return { bit, finder: undefined, expression: compiled }
    })
    this.scan = new TriggerScan(triggers)
  }

  /** Whether a text in which these triggers were found may have a match of one of the rules. */
  mayMatch(rules: readonly number[], bits: number): boolean {
    for (const rule of rules) {
      const search = this.#searches[rule]
      if (search && (search.bit === 0 || (search.bit & bits) !== 0)) return true
    }
    return false
  }

  /** The bits of a text that is looked at once. */
  bitsOf(bytes: Uint8Array): number {
    this.scan.text(bytes, 0, bytes.length)
    return this.scan.bits
  }

  /** Matches of the rules in a text whose triggers the scan has just found, ascending. */
  find(
    bytes: Buffer,
    start: number,
    end: number,
    rules: readonly number[],
    isName = false,
  ): readonly TextMatch[] {
    const found: TextMatch[] = []
    let looked = 0
    for (const rule of rules) {
      const search = this.#searches[rule]
      if (!search) continue
      const { bit, finder, expression } = search
      if (bit !== 0 && (bit & this.scan.bits) === 0) continue
      if (expression) {
        if (!isName) findExpression(expression, bytes, start, end, rule, found)
      } else if (finder && (looked & bit) === 0) {
        looked |= bit
        this.#findBuiltIn(bit, finder, bytes, start, end, rule, found)
      }
    }
    return found.length < 2 ? found : joined(found)
  }

  #findBuiltIn(
    bit: number,
    finder: MatchFinder,
    bytes: Buffer,
    start: number,
    end: number,
    rule: number,
    found: TextMatch[],
  ): void {
    const { ends, bitsAt, count } = this.scan
    let from = start
    const note = (first: number, last: number) => found.push({ start: first, end: last, rule })
    for (let i = 0; i < count; i++) {
      if ((bitsAt[i]! & bit) === 0 || ends[i]! <= from) continue
      from = Math.max(from, finder(bytes, from, end, ends[i]!, note))
    }
  }
}

/** What was hashed before is not hashed again. */
const hashed = /hash:[0-9a-f]{32}/g

function findExpression(
  expression: CompiledPattern,
  bytes: Buffer,
  start: number,
  end: number,
  rule: number,
  found: TextMatch[],
): void {
  const text = bytes.subarray(start, end)
  const matcher = expression.matcher(text)
  let kept: readonly (readonly [number, number])[] | undefined
  while (matcher.find()) {
    const [first, last] = [matcher.start(), matcher.end()]
    if (first === last) continue
    kept ??= Array.from(text.toString('latin1').matchAll(hashed), ({ index, 0: { length } }) => {
      return [index, index + length] as const
    })
    if (kept.some(([from, to]) => first >= from && last <= to)) continue
    found.push({ start: start + first, end: start + last, rule })
  }
}

/** Overlapping matches become one, of the first rule among them. */
function joined(found: TextMatch[]): readonly TextMatch[] {
  found.sort((a, b) => a.start - b.start || a.end - b.end)
  const result: TextMatch[] = []
  for (const match of found) {
    const last = result.at(-1)
    if (last && match.start < last.end) {
      last.end = Math.max(last.end, match.end)
      last.rule = Math.min(last.rule, match.rule)
    } else result.push(match)
  }
  return result
}

/** The text that every match begins with, if the expression says so plainly. */
function literalStart(expression: string, flags: string): string | undefined {
  if (flags.includes('i') || expression.includes('|')) return undefined
  const found = /^(?:\^|\\b)?([\w@ :/-]{2,})(.?)/.exec(expression)
  if (!found) return undefined
  const [, text, next] = found
  const sure = next !== '' && '*?{'.includes(next!) ? text!.slice(0, -1) : text!
  return sure.length < 2 ? undefined : sure
}
