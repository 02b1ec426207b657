/** Comparisons of numbers: `score below 0.5`, `slower than 3 s`, `more than 10k tokens`. */
import { type Amount, scaled, takeAmount, takeAmounts } from './amount.ts'
import type { Context, Meaning, PhraseReader, Quantity, Recognized, Unit } from './phrase.ts'
import { fieldQuantity, quantityOf, takeQuantity } from './quantity.ts'

type Operator = '<' | '<=' | '>' | '>=' | '=' | '!='

const comparators: readonly (readonly [Operator, readonly string[]])[] = [
  [
    '>=',
    [
      'greater than or equal to',
      'no less than',
      'not less than',
      'at least',
      'minimum of',
      '>=',
      '> =',
    ],
  ],
  [
    '<=',
    [
      'less than or equal to',
      'no more than',
      'not more than',
      'at most',
      'up to',
      'maximum of',
      'no higher than',
      '<=',
    ],
  ],
  ['!=', ['is not equal to', 'not equal to', 'other than', '!=']],
  [
    '>',
    [
      'more than',
      'greater than',
      'higher than',
      'larger than',
      'bigger than',
      'longer than',
      'better than',
      'above',
      'over',
      'exceeding',
      'exceeds',
      'exceed',
      'exceeded',
      '>',
    ],
  ],
  [
    '<',
    [
      'less than',
      'lower than',
      'smaller than',
      'shorter than',
      'fewer than',
      'worse than',
      'below',
      'under',
      '<',
    ],
  ],
  ['=', ['equal to', 'equals', 'exactly', '=']],
]

/** Comparisons that say what they compare. */
const adjectives: readonly (readonly [readonly string[], Operator, 'duration' | 'cost'])[] = [
  [
    [
      'slower than',
      'longer than',
      'took longer than',
      'taking longer than',
      'took more than',
      'taking more than',
      'takes longer than',
      'took over',
      'taking over',
    ],
    '>',
    'duration',
  ],
  [
    [
      'faster than',
      'quicker than',
      'shorter than',
      'took less than',
      'taking less than',
      'took under',
    ],
    '<',
    'duration',
  ],
  [
    [
      'more expensive than',
      'costing more than',
      'cost more than',
      'costs more than',
      'costing over',
      'cost over',
    ],
    '>',
    'cost',
  ],
  [
    [
      'cheaper than',
      'less expensive than',
      'costing less than',
      'cost less than',
      'costing under',
      'cost under',
    ],
    '<',
    'cost',
  ],
]

const told: Readonly<Record<Operator, string>> = {
  '<': 'below',
  '<=': 'at most',
  '>': 'above',
  '>=': 'at least',
  '=': '=',
  '!=': 'not',
}

/** One quantity, or all scores where "score" may be any of several. */
type Compared = readonly Quantity[]

export function recognizeComparison(
  reader: PhraseReader,
  context: Context,
): Recognized | undefined {
  const meaning =
    reader.attempt(() => graded(reader, context)) ??
    reader.attempt(() => textLength(reader)) ??
    reader.attempt(() => perfect(reader, context)) ??
    reader.attempt(() => byAdjective(reader, context)) ??
    reader.attempt(() => quantityFirst(reader, context)) ??
    reader.attempt(() => moreOf(reader, context)) ??
    reader.attempt(() => rangeAlone(reader, context)) ??
    reader.attempt(() => amountFirst(reader, context))
  return meaning && reader.means(meaning)
}

const measuredTexts: Readonly<Record<string, string>> = {
  input: 'input',
  inputs: 'input',
  prompts: 'input',
  questions: 'input',
  output: 'output',
  outputs: 'output',
  answers: 'output',
  responses: 'output',
}

/** `input longer than 500 characters`, `answers under 20 characters`. */
function textLength(reader: PhraseReader): Meaning | undefined {
  const field = reader.takeIf((word) =>
    Object.hasOwn(measuredTexts, word) ? measuredTexts[word] : undefined,
  )
  reader.take('is', 'are', 'with', 'of', 'has', 'have')
  const operator = takeComparator(reader)
  const amount = operator && takeAmount(reader)
  if (!operator || amount?.unit !== 'none') return undefined
  if (!reader.take('characters', 'character', 'chars', 'letters')) return undefined
  const path = field ?? 'output'
  return {
    kind: 'condition',
    text: `length(to_string(${path})) ${operator} ${amount.value}`,
    told: `length of ${path} ${told[operator]} ${amount.value} characters`,
  }
}

/** From here on an answer passes. */
const passingScore = 0.5

/** `failing Factuality`, `passing Helpfulness`. */
function graded(reader: PhraseReader, context: Context): Meaning | undefined {
  const isFailing = reader.take('failing', 'failed', 'fails', 'not passing') !== undefined
  if (!isFailing && !reader.take('passing', 'passed', 'passes')) return undefined
  reader.take('on', 'the')
  const compared = takeCompared(reader, context)
  if (!compared?.every(({ row }) => row?.startsWith('scores.'))) return undefined
  reader.take('score', 'scores')
  const amount = { value: passingScore, unit: 'none', factor: 1 } as const
  return compare(compared, isFailing ? '<' : '>=', amount)
}

/** `perfect Factuality`, `perfect scores`. */
function perfect(reader: PhraseReader, context: Context): Meaning | undefined {
  if (!reader.take('with a perfect', 'with perfect', 'perfect', 'full')) return undefined
  const compared = takeCompared(reader, context)
  if (!compared?.every(({ unit }) => unit === 'none')) return undefined
  reader.take('score', 'scores')
  return compare(compared, '=', { value: 1, unit: 'none', factor: 1 })
}

function byAdjective(reader: PhraseReader, context: Context): Meaning | undefined {
  const said = takeSaidOf(reader)
  const amount = said && takeAmount(reader)
  return amount && compare([quantityOf(said.of, context)], said.operator, amount)
}

/** `more output tokens than 500`. */
function moreOf(reader: PhraseReader, context: Context): Meaning | undefined {
  reader.take('with', 'using')
  const operator = takeMoreOrLess(reader)
  const compared = operator && takeCompared(reader, context)
  const amount = compared && reader.take('than') ? takeAmount(reader) : undefined
  return operator && compared && amount ? compare(compared, operator, amount) : undefined
}

/** What stands before what it compares: `more`. */
export function takeMoreOrLess(reader: PhraseReader): '>' | '<' | undefined {
  if (reader.take('more', 'higher', 'larger')) return '>'
  return reader.take('fewer', 'less', 'lower', 'smaller') ? '<' : undefined
}

interface SaidOf {
  readonly operator: Operator
  readonly of: 'duration' | 'cost'
}

/** `slower than`, `costing over`: a comparison that says what it compares. */
export function takeSaidOf(reader: PhraseReader): SaidOf | undefined {
  for (const [phrases, operator, of] of adjectives) {
    if (reader.take(...phrases)) return { operator, of }
  }
  return undefined
}

/** `Factuality below 0.5`, `latency between 2 and 5 s`, `score of 1`. */
function quantityFirst(reader: PhraseReader, context: Context): Meaning | undefined {
  reader.take(
    'with a',
    'with an',
    'with',
    'whose',
    'where',
    'having',
    'has a',
    'has',
    'have',
    'and',
  )
  const compared = takeCompared(reader, context)
  if (!compared) return undefined
  const isNegated = reader.take("isn't", 'is not', 'was not', 'not', "aren't") !== undefined
  if (!isNegated) reader.take('is', 'was', 'are', 'were', 'of', ':', 'has', 'that is')
  const range = takeRange(reader)
  if (range) return between(compared, range.low, range.high, isNegated)
  const given = takeComparator(reader)
  const operator = given ?? '='
  const amount = takeAmount(reader)
  if (!amount) {
    const other = given && reader.attempt(() => takeCompared(reader, context))
    return other && compareWithOther(compared, operator, other, isNegated)
  }
  const first = compare(compared, withTail(reader, operator, amount), amount, isNegated)
  const second = first && reader.attempt(() => takeAlternative(reader, compared))
  if (first?.kind !== 'condition' || second?.kind !== 'condition') return first
  return {
    kind: 'condition',
    text: `(${first.text} or ${second.text})`,
    told: `${first.told} or ${second.told}`,
  }
}

/** `… or over 5000`, of what was compared before. */
function takeAlternative(reader: PhraseReader, compared: Compared): Meaning | undefined {
  const operator = reader.take('or') && takeComparator(reader)
  const amount = operator ? takeAmount(reader) : undefined
  if (!operator || !amount) return undefined
  return compare(compared, withTail(reader, operator, amount), amount)
}

/** `Factuality lower than Helpfulness`. */
function compareWithOther(
  [one, ...more]: Compared,
  operator: Operator,
  [other, ...others]: Compared,
  isNegated: boolean,
): Meaning | undefined {
  if (!one || !other || more.length + others.length > 0 || one.unit !== other.unit) return undefined
  const condition = {
    kind: 'condition',
    text: `${one.row} ${operator} ${other.row}`,
    told: `${one.name} ${told[operator]} ${other.name}`,
  } as const
  return isNegated ? opposite(condition) : condition
}

/** `more than 10k tokens`, `over $0.10`, `under 2 seconds`, `3 seconds or more`, `at least 2 retries`. */
function amountFirst(reader: PhraseReader, context: Context): Meaning | undefined {
  reader.take('with', 'using', 'of', 'took', 'taking', 'lasting')
  const given = takeComparator(reader)
  const amount = takeAmount(reader)
  if (!amount) return undefined
  const operator = withTail(reader, given, amount)
  const counted = context.rows === 'traces' && operator ? takeOfTrace(reader) : undefined
  if (counted && operator) return compare([counted], operator, amount)
  const quantity = reader.attempt(() => {
    reader.take('of', 'in')
    return takeCompared(reader, context)
  })
  if (quantity) return compare(quantity, operator ?? '=', amount)
  if (!operator) return undefined
  const part = amount.unit === 'tokens' ? takePart(reader) : undefined
  if (amount.unit === 'seconds') reader.take('long')
  const implied = part ? [quantityOf(part, context)] : impliedBy(amount.unit, context)
  return implied && compare(implied, operator, amount)
}

const ofTraces: readonly (readonly [column: string, phrases: readonly string[]])[] = [
  ['errors', ['errors', 'failures', 'error', 'failure']],
  ['llm_calls', ['llm calls', 'model calls', 'llm call']],
  ['tool_calls', ['tool calls', 'tool call']],
]

/** What is counted in each trace. */
function takeOfTrace(reader: PhraseReader): Quantity | undefined {
  for (const [column, phrases] of ofTraces) {
    const row = `metrics.${column}`
    if (!reader.take(...phrases)) continue
    return { name: column.replace('_', ' '), row, group: `sum(${row})`, told: column, unit: 'none' }
  }
  return undefined
}

/** Which tokens are meant. */
function takePart(reader: PhraseReader): 'prompt' | 'completion' | undefined {
  if (reader.take('in the prompt', 'in the input')) return 'prompt'
  return reader.take('in the output', 'in the response') ? 'completion' : undefined
}

/** `between 2 and 5 seconds`: the unit tells what is compared. */
function rangeAlone(reader: PhraseReader, context: Context): Meaning | undefined {
  reader.take('taking', 'took', 'costing', 'with')
  const range = takeRange(reader)
  const named = range && reader.attempt(() => takeCompared(reader, context))
  const implied = range && named === undefined ? impliedBy(range.high.unit, context) : named
  return range && implied && between(implied, range.low, range.high, false)
}

function impliedBy(unit: Unit, context: Context): Compared | undefined {
  switch (unit) {
    case 'seconds':
      return [quantityOf('duration', context)]
    case 'dollars':
      return [quantityOf('cost', context)]
    case 'tokens':
      return [quantityOf('tokens', context)]
    default:
      return undefined
  }
}

/** `between 2 and 5 s`, `2 to 5 s`, `from 2 to 5 s`. */
function takeRange(reader: PhraseReader) {
  return reader.attempt(() => {
    const opening = reader.take('between', 'from', 'in')
    const pair = takeAmounts(reader)
    if (pair) return { low: pair[0], high: pair[1] }
    const low = takeAmount(reader)
    const joint =
      low &&
      (reader.take('to', '-', '–') ?? (opening === undefined ? undefined : reader.take('and')))
    const high = joint && takeAmount(reader)
    return low && high ? { low, high } : undefined
  })
}

function takeCompared(reader: PhraseReader, context: Context): Compared | undefined {
  const quantity = reader.attempt(() => {
    const found = takeQuantity(reader, context)
    return found?.row === undefined ? undefined : found
  })
  if (quantity) return [quantity]
  const { scores } = context.vocabulary
  if (
    scores.length > 0 &&
    reader.take('any score', 'a score', 'score', 'scores', 'scoring', 'scored', 'rating', 'rated')
  ) {
    return scores.map(fieldQuantity)
  }
  return undefined
}

export function takeComparator(reader: PhraseReader): Operator | undefined {
  for (const [operator, phrases] of comparators) if (reader.take(...phrases)) return operator
  return undefined
}

/** What may follow an amount: `or more`. */
export function withTail<Given extends Operator | undefined>(
  reader: PhraseReader,
  operator: Given,
  { isLeast }: Amount,
): Operator | Given {
  if (isLeast && operator === undefined) return '>='
  if (reader.take('or more', 'or higher', 'or longer', 'or above', 'or greater', 'and up', 'plus'))
    return '>='
  if (reader.take('or less', 'or lower', 'or fewer', 'or shorter', 'or below', 'and below'))
    return '<='
  return operator
}

function compare(
  compared: Compared,
  operator: Operator,
  amount: Amount,
  isNegated = false,
): Meaning | undefined {
  if (!compared.every(({ unit }) => amountFits(unit, amount.unit))) return undefined
  const tests = compared.map(({ row }) => `${row} ${operator} ${amount.value}`)
  const text = tests.length === 1 ? tests[0]! : `(${tests.join(' or ')})`
  const condition = {
    kind: 'condition',
    text,
    told: `${name(compared)} ${told[operator]} ${toldAmount(amount)}`,
  } as const
  return isNegated ? opposite(condition) : condition
}

function between(
  compared: Compared,
  a: Amount,
  b: Amount,
  isNegated: boolean,
): Meaning | undefined {
  // "200 to 500 ms": the first number has the unit of the second.
  const low = a.unit === 'none' ? { ...b, value: scaled(a.value, b.factor) } : a
  if (!compared.every(({ unit }) => amountFits(unit, low.unit) && amountFits(unit, b.unit)))
    return undefined
  const tests = compared.map(({ row }) => `${row} between ${low.value} and ${b.value}`)
  const text = tests.length === 1 ? tests[0]! : `(${tests.join(' or ')})`
  const condition = {
    kind: 'condition',
    text,
    told: `${name(compared)} from ${toldAmount(low)} to ${toldAmount(b)}`,
  } as const
  return isNegated ? opposite(condition) : condition
}

function opposite(condition: Extract<Meaning, { kind: 'condition' }>): Meaning {
  return { kind: 'condition', text: `not (${condition.text})`, told: `not: ${condition.told}` }
}

function name(compared: Compared): string {
  const names = compared.map(({ name }) => name)
  return names.length === 1 ? names[0]! : `any score (${names.join(', ')})`
}

export function amountFits(quantity: Unit, amount: Unit): boolean {
  if (amount === 'none' || quantity === amount) return true
  return quantity === 'none' && amount === 'share'
}

export function toldAmount({ value, unit }: Amount): string {
  switch (unit) {
    case 'seconds':
      return `${value} s`
    case 'dollars':
      return `$${value}`
    default:
      return String(value)
  }
}
