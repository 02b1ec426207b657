/** Whatever the text, the parser gives a tree or an error with a place, and soon. */
import { expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import type { Expression, Query } from '../../src/parser/ast.ts'
import { renderError } from '../../src/parser/error-location.ts'
import { parseExpression, parseQuery } from '../../src/parser/parse.ts'
import { parseRequest } from '../../src/parser/parse-request.ts'
import { printExpression } from '../../src/parser/print.ts'
import { printQuery } from '../../src/parser/print-query.ts'
import { printSqlQuery } from '../../src/parser/print-sql.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { readCorpus } from './fuzz-corpus.ts'
import { FuzzTexts } from './fuzz-text.ts'

const inputs = isSlow ? 1_000_000 : 4_000
/** In milliseconds, for one text on one surface. */
const maximumTime = 100

/** Each way into the parser; a canonical text must stay as it is when it is parsed and printed. */
const surfaces: readonly {
  readonly name: string
  readonly parse: (text: string) => Query | Expression
}[] = [
  { name: 'a request', parse: (text) => parseRequest(text, undefined) },
  { name: 'a request with a source', parse: (text) => parseRequest(text, "experiment('e')") },
  { name: 'an expression', parse: parseExpression },
]

test(`${inputs} random texts`, { timeout: 3_600_000 }, () => {
  if (isSlow) console.log(`ASSAY_SEED=${seed}`)
  // Most texts have faults, and nobody reads where in the parser one was found.
  Error.stackTraceLimit = 0
  const texts = new FuzzTexts(seed, readCorpus())
  const accepted = new Map(surfaces.map(({ name }) => [name, 0]))
  let longest = 0
  for (let i = 0; i < inputs; i++) {
    const text = texts.next()
    for (const { name, parse } of surfaces) {
      const place = (): string => `${name}, text ${i} of seed ${seed}: ${JSON.stringify(text)}`
      const { tree, time } = measured(parse, text, place)
      longest = Math.max(longest, time)
      if (tree === undefined) continue
      accepted.set(name, accepted.get(name)! + 1)
      checkCanonical(tree, place)
    }
  }
  console.log(`accepted: ${JSON.stringify([...accepted])}; longest: ${longest.toFixed(1)} ms`)
  for (const [name, count] of accepted) expect(count, name).toBeGreaterThan(inputs / 50)
})

function measured(
  parse: (text: string) => Query | Expression,
  text: string,
  place: () => string,
): { tree: Query | Expression | undefined; time: number } {
  let tree: Query | Expression | undefined
  let time = Number.POSITIVE_INFINITY
  // The machine may be busy with something else: what counts then is the time of this process.
  for (let attempts = 0; attempts < 5 && time > maximumTime; attempts++) {
    const start = performance.now()
    const used = process.cpuUsage()
    const outcome = outcomeOf(parse, text, place)
    const { user, system } = process.cpuUsage(used)
    time = Math.min(time, performance.now() - start, (user + system) / 1000)
    if (outcome instanceof AssayError) checkFault(outcome, text, place)
    else tree = outcome
  }
  if (time > maximumTime) expect.fail(`${time} ms: ${place()}`)
  return { tree, time }
}

function outcomeOf(
  parse: (text: string) => Query | Expression,
  text: string,
  place: () => string,
): Query | Expression | AssayError {
  try {
    return parse(text)
  } catch (thrown) {
    if (thrown instanceof AssayError) return thrown
    throw new Error(place(), { cause: thrown })
  }
}

/** Every fault is the user's, has a place in the text, and can be shown. */
function checkFault(fault: AssayError, text: string, place: () => string): void {
  const faults = [fault, ...fault.others]
  let earlier = 0
  for (const { family, span, others } of faults) {
    const isPlaced =
      span !== undefined &&
      earlier <= span.start &&
      span.start <= span.end &&
      span.end <= text.length
    const isAlone = others.length === 0 || others === fault.others
    // A source given apart, beside a query with one, is the request's fault and not the text's.
    const isOfRequest = fault.code === 'REQUEST_INVALID'
    if (family !== 'user' || !isAlone || !(isPlaced || isOfRequest)) {
      expect.fail(`${fault.code} without a good place: ${place()}`)
    }
    earlier = span?.start ?? 0
  }
  if (faults.length > 11) expect.fail(`${faults.length} faults: ${place()}`)
  // Showing them takes longer than finding them.
  if (text.length < 500 && text.length % 8 === 0) renderError(text, fault)
}

/** A canonical text gives the same text again, in clauses and in SQL. */
function checkCanonical(tree: Query | Expression, place: () => string): void {
  if (tree.kind !== 'query') {
    checkStable(tree, parseExpression, printExpression, place)
    return
  }
  checkStable(tree, parseQuery, printQuery, place)
  checkStable(tree, parseQuery, printSqlQuery, place)
}

function checkStable<Tree extends Query | Expression>(
  tree: Tree,
  parse: (text: string) => Tree,
  print: (tree: Tree) => string,
  place: () => string,
): void {
  const text = print(tree)
  const outcome = outcomeOf(parse as (text: string) => Query | Expression, text, place)
  if (outcome instanceof AssayError) {
    // Parentheses that the canonical text needs may go past the limit of nesting.
    if (outcome.code === 'PARSE_TOO_DEEP' || outcome.code === 'PARSE_TOO_LONG') return
    expect.fail(`${outcome.message} in ${text}: ${place()}`)
  }
  const again = print(outcome as Tree)
  if (again !== text) expect.fail(`${text} is printed as ${again}: ${place()}`)
}
