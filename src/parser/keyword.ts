import type { ArithmeticOperator, ComparisonOperator } from './ast.ts'
import { clauseNames } from './clause.ts'

export const comparisonOperators: ReadonlyMap<string, ComparisonOperator> = new Map([
  ['=', 'eq'],
  ['==', 'eq'],
  ['eq', 'eq'],
  ['!=', 'ne'],
  ['<>', 'ne'],
  ['ne', 'ne'],
  ['<', 'lt'],
  ['lt', 'lt'],
  ['<=', 'le'],
  ['le', 'le'],
  ['>', 'gt'],
  ['gt', 'gt'],
  ['>=', 'ge'],
  ['ge', 'ge'],
  ['<=>', 'is_same'],
  ['<!=>', 'is_different'],
])

/** Comparisons with a regular expression. */
export const patternOperators: ReadonlyMap<
  string,
  { readonly caseInsensitive: boolean; readonly negated: boolean }
> = new Map([
  ['~', { caseInsensitive: false, negated: false }],
  ['~*', { caseInsensitive: true, negated: false }],
  ['!~', { caseInsensitive: false, negated: true }],
  ['!~*', { caseInsensitive: true, negated: true }],
])

export const additiveOperators: ReadonlyMap<string, ArithmeticOperator> = new Map([
  ['+', 'add'],
  ['add', 'add'],
  ['-', 'sub'],
  ['sub', 'sub'],
])

export const multiplicativeOperators: ReadonlyMap<string, ArithmeticOperator> = new Map([
  ['*', 'mul'],
  ['mul', 'mul'],
  ['/', 'div'],
  ['div', 'div'],
  ['%', 'mod'],
  ['mod', 'mod'],
])

/** Comparisons by a word. All but `is` and the null tests may have `not` before them. */
export const predicateNames = [
  'in',
  'like',
  'ilike',
  'includes',
  'contains',
  'match',
  'between',
  'is',
  'isnull',
  'isnotnull',
] as const

export type PredicateName = (typeof predicateNames)[number]

/** Functions that may be written without parentheses. */
export const bareFunctions: ReadonlySet<string> = new Set(['current_date', 'current_timestamp'])

/** Types of `cast(x as type)` and the function that each stands for. */
export const castFunctions: ReadonlyMap<string, string> = new Map([
  ['string', 'to_string'],
  ['text', 'to_string'],
  ['varchar', 'to_string'],
  ['char', 'to_string'],
  ['boolean', 'to_boolean'],
  ['bool', 'to_boolean'],
  ['integer', 'to_integer'],
  ['int', 'to_integer'],
  ['bigint', 'to_integer'],
  ['smallint', 'to_integer'],
  ['number', 'to_number'],
  ['numeric', 'to_number'],
  ['decimal', 'to_number'],
  ['double', 'to_number'],
  ['float', 'to_number'],
  ['real', 'to_number'],
  ['date', 'to_date'],
  ['datetime', 'to_datetime'],
  ['timestamp', 'to_datetime'],
  ['timestamptz', 'to_datetime'],
  ['interval', 'to_interval'],
])

/** Words that cannot be a field's name unless they are quoted or stand after a dot. */
export const reservedWords: ReadonlySet<string> = new Set([
  'and',
  'or',
  'not',
  'in',
  'is',
  'like',
  'ilike',
  'between',
  'as',
  'when',
  'then',
  'else',
])

/** Words that may follow a finished operand, so that none of them begins another. */
export const followingWords: ReadonlySet<string> = new Set([
  'and',
  'or',
  'not',
  'as',
  'asc',
  'desc',
  'for',
  'when',
  'then',
  'else',
  'end',
  ...predicateNames,
  ...[comparisonOperators, additiveOperators, multiplicativeOperators].flatMap((operators) =>
    [...operators.keys()].filter((operator) => /^[a-z]/.test(operator)),
  ),
])

/** Every word that means something somewhere: a printed name that is one of these is quoted. */
export const keywords: ReadonlySet<string> = new Set([
  ...reservedWords,
  ...followingWords,
  ...bareFunctions,
  ...clauseNames,
  // Of SQL, whose canonical texts hold the same expressions.
  'where',
  'group',
  'having',
  'order',
  'union',
  'intersect',
  'except',
  'true',
  'false',
  'null',
  'case',
  'cast',
  'distinct',
  'interval',
  'neg',
  'with',
])
