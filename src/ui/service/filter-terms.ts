/**
 * The conditions of a search, each by itself: shown, taken out, changed and added to. A search stays the one text
 * that it is; what is made of its conditions is written in the query language.
 */
import { type LineToken, readToken, startState } from '../editor/tokens.ts'
import { type Interpretation, quoted } from './query.ts'
import { clauseOf, isOfRecords, withClauses } from './query-text.ts'
import { takesQueries } from './session.ts'

interface Word {
  /** Lower case, where it is a word or a sign. */
  readonly text: string
  readonly kind: LineToken['kind']
  readonly start: number
  readonly end: number
  /** Brackets, and beginnings of `case`, that are open. */
  readonly depth: number
}

function wordsOf(text: string): readonly Word[] {
  const line = text.replace(/[\r\n]/g, ' ')
  const state = startState()
  const words: Word[] = []
  let depth = 0
  for (let start = 0; start < line.length; ) {
    const { kind, end } = readToken(line, start, state)
    const written = line.slice(start, end).toLowerCase()
    if (kind !== 'blank' && kind !== 'comment') {
      const closes = kind === 'symbol' ? ')]}'.includes(written) : written === 'end'
      const opens = kind === 'symbol' ? '([{'.includes(written) : written === 'case'
      // `metrics.end` ends nothing.
      const isPlain = (kind === 'symbol' || kind === 'word') && words.at(-1)?.text !== '.'
      if (isPlain && closes) depth--
      words.push({ text: written, kind, start, end, depth })
      if (isPlain && opens) depth++
    }
    start = end
  }
  return words
}

/** Conditions that all must hold, as they are written; those of a text without one are none. */
export function termsOf(filter: string | null | undefined): readonly string[] {
  if (filter === null || filter === undefined || filter.trim() === '') return []
  const words = wordsOf(filter)
  if (words.some((word) => isJoint(word, 'or') || isJoint(word, '?'))) return [filter.trim()]
  const terms: string[] = []
  let from = 0
  let isBetween = false
  for (const word of words) {
    if (isJoint(word, 'between')) isBetween = true
    else if (isJoint(word, 'and')) {
      if (!isBetween) {
        terms.push(filter.slice(from, word.start))
        from = word.end
      }
      isBetween = false
    }
  }
  terms.push(filter.slice(from))
  return terms.flatMap((written) => {
    const term = written.trim()
    const inner = withoutBrackets(term)
    return inner === term ? [term] : termsOf(inner)
  })
}

function isJoint({ text, kind, depth }: Word, wanted: string): boolean {
  return depth === 0 && text === wanted && (kind === 'word' || kind === 'symbol')
}

/** One pair around all of it. */
function withoutBrackets(term: string): string {
  if (!term.startsWith('(') || !term.endsWith(')')) return term
  const inner = wordsOf(term).slice(1, -1)
  return inner.every(({ depth }) => depth > 0) ? term.slice(1, -1).trim() : term
}

/** All of them as one condition. */
export function joined(terms: readonly string[]): string {
  const [first = '', ...others] = terms
  if (others.length === 0) return first
  return terms.map((term) => (isLoose(term) ? `(${term})` : term)).join(' and ')
}

/** Whether `and` would take only a part of it. */
function isLoose(term: string): boolean {
  return wordsOf(term).some((word) => isJoint(word, 'or') || isJoint(word, '?'))
}

/** Words that stand alone are looked for as words, unless a clause holds them. */
const bare = /^(?:not\s+)?[\w.]+$/i

const clause = 'filter: '

/** A condition as a search: people whose searches are words are still understood by it. */
export function asSearch(condition: string): string {
  return condition === '' || takesQueries() ? condition : clause + condition
}

/** The search whose conditions are these, and which is otherwise what the text was taken for. */
export function textWith(
  { query }: Pick<Interpretation, 'query'>,
  source: string,
  terms: readonly string[],
): string {
  const filter = joined(terms)
  const others = withClauses(query, { select: undefined, from: undefined, filter: undefined })
  const isPlain = isOfRecords(query) && others === '' && clauseOf(query, 'from') === source
  if (isPlain)
    return terms.some((term) => bare.test(term)) ? `${clause}${filter}` : asSearch(filter)
  const changed = withClauses(query, { filter: filter === '' ? undefined : filter })
  return changed.split('\n').join(' | ')
}

/** A field's value as a condition writes it. */
export type Scalar = string | number | boolean

export function literal(value: Scalar): string {
  return typeof value === 'string' ? quoted(value) : String(value)
}

/** Steps into a record, as the language writes them. */
export function pathText(steps: readonly string[]): string {
  return steps.map((step, i) => (isName(step, i) ? step : nameInQuotes(step))).join('.')
}

function isName(step: string, place: number): boolean {
  return place === 0 || /^[a-z_]\w*$/i.test(step)
}

function nameInQuotes(name: string): string {
  return `"${name.replace(/["\\]/g, '\\$&')}"`
}

/** Which values of a field conditions ask for; undefined where none does. */
export function chosenValues(terms: readonly string[], field: string): readonly Scalar[] {
  return terms.flatMap((term) => valuesOfTerm(term, field) ?? [])
}

/** The values of a condition `field = value` or `field in […]`; undefined of any other. */
export function valuesOfTerm(term: string, field: string): readonly Scalar[] | undefined {
  if (!term.startsWith(field)) return undefined
  const rest = term.slice(field.length)
  const one = /^\s*=\s*(.+)$/s.exec(rest)
  if (one) {
    const value = readLiteral(one[1]!)
    return value === undefined ? undefined : [value]
  }
  const several = /^\s+in\s*[[(](.*)[\])]$/is.exec(rest)
  if (!several) return undefined
  const items = wordsOf(several[1]!).filter(({ text }) => text !== ',')
  const values = items.map(({ start, end }) => readLiteral(several[1]!.slice(start, end)))
  return values.includes(undefined) ? undefined : (values as readonly Scalar[])
}

function readLiteral(text: string): Scalar | undefined {
  const written = text.trim()
  if (written === 'true' || written === 'false') return written === 'true'
  if (/^-?\d+(?:\.\d+)?$/.test(written)) return Number(written)
  const [only, other] = wordsOf(written)
  const isText = only?.kind === 'string' && other === undefined && only.end === written.length
  if (!isText) return undefined
  return written.slice(1, -1).replace(/\\(.)|''/gs, (_, escaped?: string) => escaped ?? "'")
}

/** Asks for one value of the field more, or no longer for it. */
export function withToggled(
  terms: readonly string[],
  field: string,
  value: Scalar,
): readonly string[] {
  const chosen = chosenValues(terms, field)
  const next = chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]
  const others = terms.filter((term) => valuesOfTerm(term, field) === undefined)
  if (next.length === 0) return others
  const [first] = next
  const condition =
    next.length === 1
      ? `${field} = ${literal(first!)}`
      : `${field} in [${next.map(literal).join(', ')}]`
  return [...others, condition]
}

/** Adds a condition, unless it is there. */
export function withTerm(terms: readonly string[], term: string): readonly string[] {
  return terms.includes(term) ? terms : [...terms, term]
}

/** The opposite of a condition, as rows have it: of traces, that no span meets it. */
export function excluded(field: string, value: Scalar, rowsAre: 'traces' | 'spans'): string {
  return rowsAre === 'traces'
    ? `not any_span(${field} = ${literal(value)})`
    : `${field} is distinct from ${literal(value)}`
}
