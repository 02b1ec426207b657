/** Rows of any shape as JSON texts, and what must be read from their columns. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { parseJson } from '../../src/type/parse-json.ts'
import type { Value } from '../../src/type/value.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import type { ColumnSet } from '../../src/vector/column.ts'
import { pathReader, stored } from '../../src/vector/read-column.ts'

/** Row `i` of the set gives back text `i`; `mayBeStored`: some may be too long for columns. */
export function expectRows(set: ColumnSet, texts: readonly string[], mayBeStored: boolean): void {
  const readRow = pathReader(set, [])
  for (const [row, text] of texts.entries()) {
    const read = readRow(row)
    if (read === stored) expect(mayBeStored || hasDuplicate(text)).toBe(true)
    else expect(canonicalJson(read)).toBe(canonicalJson(withoutNulls(parseJson(text))))
  }
  for (const path of [...set.pathsBelow([]), ['a', 'b'], ['m', 'x', 'y']]) {
    const read = pathReader(set, path)
    for (const [row, text] of texts.entries()) {
      const value = read(row)
      if (value === stored) continue
      expect(canonicalJson(value)).toBe(canonicalJson(memberAt(parseJson(text), path)))
    }
  }
}

/** JSON texts of rows that have much in common and much not. */
export function rowTexts(): fc.Arbitrary<string[]> {
  const key = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('"a"', '"b"', '"m"', '"x"', '"y"') },
    {
      weight: 2,
      arbitrary: fc.constantFrom('"__proto__"', '"a.b"', '""', '"\\u0061"', '"\\ud800"', '"é\\n"'),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)) },
  )
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.integer().map(String),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc.constantFrom('-0', '1e5', '0.1', '-0.000', '1E+2', '9007199254740993', '123456789012345.6'),
    fc.constantFrom('9007199254740992', '1e999', '-1e999', '0.30000000000000004', '1e-400'),
  )
  const string = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\/\\b\\f"', '"𝄞é"'),
    fc
      .array(fc.constantFrom('\\\\', '\\"', '\\n', 'plain text', 'é', '\\u20ac'), { maxLength: 60 })
      .map((parts) => `"${parts.join('')}"`),
    fc.constantFrom('"\\ud83d\\n"', '"\\uD83D\\uDE00\\u0000"', '"same"', '"same"', '"\\u00e9"'),
  )
  const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      number,
      string,
      fc.constantFrom('true', 'false', 'null', '{}', '[]'),
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }).map((parts) => `[${parts.join()}]`),
    ),
    object: objectOf(tie('value')),
  }))
  function objectOf(member: fc.Arbitrary<string>): fc.Arbitrary<string> {
    return fc
      .array(fc.tuple(key, member), { maxLength: 4 })
      .map((members) => `{${members.map(([name, text]) => `${name}:${text}`).join(', ')}}`)
  }
  const row = objectOf(value)
  // Many equal rows push the paths of the others under the share that columns need.
  return fc
    .tuple(fc.array(row, { minLength: 1, maxLength: 12 }), fc.nat({ max: 150 }), row)
    .map(([rows, copies, copied]) => [...rows, ...Array<string>(copies).fill(copied)])
}

function withoutNulls(row: Value): Value {
  const entries = Object.entries(row as Record<string, Value>)
  return Object.fromEntries(entries.filter(([, value]) => value !== null))
}

function memberAt(value: Value, path: readonly string[]): Value {
  let current = value
  for (const key of path) {
    if (typeof current !== 'object' || current === null || Array.isArray(current)) return null
    if (!Object.hasOwn(current, key)) return null
    current = (current as Record<string, Value>)[key]!
  }
  return current
}

function hasDuplicate(text: string): boolean {
  const objects: Set<string>[] = []
  let duplicate = false
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') objects.push(new Set())
    else if (token === '}') objects.pop()
    else if (token.endsWith(':')) {
      const name = JSON.parse(token.slice(0, -1)) as string
      duplicate ||= objects.at(-1)!.has(name)
      objects.at(-1)!.add(name)
    }
  }
  return duplicate
}
