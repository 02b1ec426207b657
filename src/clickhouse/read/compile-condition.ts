/**
 * Conditions as two predicates, where they are true and where they are false: SQL's own NOT keeps rows of neither, such as
 * those whose value is of another kind. And values: those of expressions, of conditions, and of choices between them.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import { constantValue } from '../../binder/evaluate.ts'
import type { Value } from '../../type/value.ts'
import {
  allOf,
  always,
  anyOf,
  type Bounds,
  choice,
  conjunction,
  decided,
  disjunction,
  isTrue,
  levelOf,
  negation,
  never,
  noneOf,
  openOf,
  type ProofLevel,
  unproven,
} from './bounds.ts'
import {
  compareApart,
  comparedConstant,
  compareValues,
  isAmong,
  type Truths,
} from './compare-values.ts'
import { type CompileContext, compileValue } from './compile-value.ts'
import { type CompiledValue, nullValue, typedKinds, typedValue } from './compiled-value.ts'
import { includesBounds } from './includes-condition.ts'
import { hasTexts } from './json-text.ts'
import { isSimplePattern, likeBounds } from './text-condition.ts'
import { wordBounds } from './word-condition.ts'

export interface CompiledCondition {
  readonly whereTrue: Bounds
  readonly whereFalse: Bounds
  /** Whether all that these leave open is so of rows whose values columns do not tell: such rows are in doubt. */
  readonly isTold: boolean
  /** Where none of this holds: only the body tells. */
  readonly doubts: readonly string[]
  /** Holds wherever the condition is true, even in doubt, and is quickly told by an index; undefined: none is. */
  readonly isNear?: string | undefined
}

const unknown: CompiledCondition = {
  whereTrue: unproven,
  whereFalse: unproven,
  isTold: false,
  doubts: [],
}

/** Of a longer list, whether texts of it are somewhere takes longer than reading what is there. */
const mostNear = 8

export function compileCondition(
  node: BoundExpression,
  context: CompileContext,
): CompiledCondition {
  const constant = constantValue(node, context)
  if (constant !== undefined) return constantCondition(constant)
  switch (node.kind) {
    case 'and':
    case 'or': {
      const operands = node.operands.map((operand) => compileCondition(operand, context))
      const [all, any] = node.kind === 'and' ? [allOf, anyOf] : [anyOf, allOf]
      return {
        whereTrue: all(operands.map(({ whereTrue }) => whereTrue)),
        whereFalse: any(operands.map(({ whereFalse }) => whereFalse)),
        isTold: operands.every(({ isTold }) => isTold),
        doubts: operands.flatMap(({ doubts }) => doubts),
        isNear: (node.kind === 'and' ? conjunction : disjunction)(
          operands.map(({ isNear = '1' }) => isNear),
        ),
      }
    }
    case 'not': {
      const { whereTrue, whereFalse, isTold, doubts } = compileCondition(node.operand, context)
      return { whereTrue: whereFalse, whereFalse: whereTrue, isTold, doubts }
    }
    case 'is_null':
      return nullTest(node.operand, context)
    case 'comparison':
      return comparison(node, context)
    case 'in': {
      const list = constantValue(node.list, context)
      const operand = compileOperand(node.operand, context)
      if (!operand || list === undefined) return unknown
      if (!Array.isArray(list)) return constantCondition(null)
      const items = list as readonly Value[]
      const truths = isAmong(operand, items)
      const near = items.length > mostNear ? [] : items.map((item) => textsNear(node.operand, item))
      return {
        ...withDoubts(truths, truths.doubts, !hasLongInteger(list)),
        isNear: near.length === 0 ? undefined : disjunction(near.map((isNear = '1') => isNear)),
      }
    }
    case 'includes': {
      const needle = constantValue(node.needle, context)
      const haystack = compileOperand(node.haystack, context)
      if (!haystack || needle === undefined) return unknown
      const path = node.haystack.kind === 'field' ? node.haystack.path : undefined
      const truths = includesBounds(haystack, path, needle)
      return { ...withDoubts(truths, haystack.doubts, true), isNear: hasTexts(path, needle) }
    }
    case 'like':
      return patternMatch(node, context)
    case 'match':
      return wordSearch(node, context)
    case 'in_traces':
      return membership(node, context)
    default: {
      const value = plainValue(node, context)
      return value ? truthOf(value) : unknown
    }
  }
}

/** Whether a trace, or a row, is in a set of the query. */
function membership(
  { set, trace }: Extract<BoundExpression, { kind: 'in_traces' }>,
  context: CompileContext,
): CompiledCondition {
  const members = context.traceSet(set)
  const column = trace.kind === 'field' ? membersColumns[trace.path.join('.')] : undefined
  if (members === undefined || column === undefined) return unknown
  if (members === '') return constantCondition(false)
  const whereTrue = decided(`((object, ${column}) IN (${members}))`)
  return { whereTrue, whereFalse: noneOf(whereTrue), isTold: true, doubts: [] }
}

/** By field, the columns of what sets have. */
const membersColumns: Readonly<Record<string, string>> = { root_span_id: 'trace', id: 'id' }

/** What the nodes decide of a condition, but for rows in doubt. */
export function levelOfCondition({ whereTrue, isTold }: CompiledCondition): ProofLevel {
  return isTold ? 'exact' : levelOf(whereTrue)
}

/** Where a condition is neither true nor false. */
function whereUnknown({ whereTrue, whereFalse }: CompiledCondition): Bounds {
  return noneOf(anyOf([whereTrue, whereFalse]))
}

export function constantCondition(value: Value): CompiledCondition {
  return {
    whereTrue: value === true ? always : never,
    whereFalse: value === false ? always : never,
    isTold: true,
    doubts: [],
  }
}

/** @param isTold see `CompiledCondition`; where nothing is open, all is told */
function withDoubts(
  { whereTrue, whereFalse }: Truths,
  doubts: readonly string[],
  isTold = levelOf(whereTrue) === 'exact' && levelOf(whereFalse) === 'exact',
): CompiledCondition {
  return { whereTrue, whereFalse, isTold, doubts }
}

/**
 * Where a condition is true, of rows that are not in doubt; undefined where more than such rows are open.
 *
 * @returns the doubts that this comes with
 */
export function toldTruth(
  condition: CompiledCondition,
): { readonly sql: string; readonly doubts: readonly string[] } | undefined {
  if (levelOfCondition(condition) !== 'exact') return undefined
  const { whereTrue, doubts } = condition
  return { sql: whereTrue.sure, doubts: [...doubts, openOf(whereTrue)] }
}

/** Integers that no double is are compared by the body. */
function hasLongInteger(value: Value): boolean {
  return Array.isArray(value)
    ? (value as readonly Value[]).some(hasLongInteger)
    : typeof value === 'bigint'
}

/** Of values that are no boolean nothing is known to be true or false. */
function truthOf({ typed, hidden, isHidden, doubts }: CompiledValue): CompiledCondition {
  const { boolean } = typed
  const may = hidden.includes('boolean') ? isHidden : '0'
  const bounds = (sql: string): Bounds => ({ sure: sql, may: disjunction([sql, may]) })
  return {
    whereTrue: bounds(boolean ? isTrue(boolean) : '0'),
    whereFalse: bounds(boolean ? isTrue(`NOT ${boolean}`) : '0'),
    isTold: may === '0',
    doubts,
  }
}

/** Kinds of expressions whose value is true, false or null. */
const conditionKinds: ReadonlySet<BoundExpression['kind']> = new Set([
  'and',
  'or',
  'not',
  'comparison',
  'in',
  'includes',
  'like',
  'match',
  'in_traces',
  'is_null',
])

function nullTest(operand: BoundExpression, context: CompileContext): CompiledCondition {
  if (conditionKinds.has(operand.kind)) {
    const condition = compileCondition(operand, context)
    const whereTrue = whereUnknown(condition)
    return { ...condition, whereTrue, whereFalse: noneOf(whereTrue), isNear: undefined }
  }
  const value = compileOperand(operand, context)
  if (!value) return unknown
  const { isNull, doubts } = value
  return {
    whereTrue: decided(isNull),
    whereFalse: decided(negation(isNull)),
    isTold: true,
    doubts,
  }
}

function comparison(
  { operator, left, right }: Extract<BoundExpression, { kind: 'comparison' }>,
  context: CompileContext,
): CompiledCondition {
  const constants = [left, right].map((side) => constantValue(side, context))
  const values = [left, right].map((side, i) => {
    return constants[i] === undefined ? compileOperand(side, context) : undefined
  })
  const [leftSide, rightSide] = values.map((value, i) => {
    const [constant, other] = [constants[i], values[1 - i]]
    return constant === undefined || !other ? value : comparedConstant(constant, other)
  })
  if (leftSide && rightSide) {
    const truths = compareValues(operator, leftSide, rightSide)
    const isLong = constants.some((constant) => constant !== undefined && hasLongInteger(constant))
    const isNear =
      operator === 'eq' || operator === 'is_same'
        ? (textsNear(left, constants[1]) ?? textsNear(right, constants[0]))
        : undefined
    return { ...withDoubts(truths, truths.doubts, !isLong), isNear }
  }
  const known = values[0] ?? values[1]
  if (!known) return unknown
  const isApart = constants.some((constant) => constant !== undefined)
  if (isApart) return withDoubts(compareApart(operator), [])
  // Of a side that only the body tells: it is neither true nor false where the other one is null.
  if (operator === 'is_same' || operator === 'is_different') return unknown
  const bounds = { sure: '0', may: negation(known.isNull) }
  return withDoubts({ whereTrue: bounds, whereFalse: bounds }, known.doubts)
}

/** Where what is within JSON may be the same as a constant. */
function textsNear(operand: BoundExpression, constant: Value | undefined): string | undefined {
  if (operand.kind !== 'field' || operand.path.length < 2 || constant === undefined)
    return undefined
  return hasTexts(operand.path, constant)
}

function patternMatch(
  { operand: of, pattern: by, caseInsensitive }: Extract<BoundExpression, { kind: 'like' }>,
  context: CompileContext,
): CompiledCondition {
  const pattern = constantValue(by, context)
  const operand = compileOperand(of, context)
  if (!operand || pattern === undefined) return unknown
  const path = of.kind === 'field' ? of.path : undefined
  const truths = likeBounds(operand, path, pattern, caseInsensitive)
  const isTold = isSimplePattern(pattern, caseInsensitive)
  return withDoubts(truths, operand.doubts, isTold)
}

function wordSearch(
  node: Extract<BoundExpression, { kind: 'match' }>,
  context: CompileContext,
): CompiledCondition {
  const query = constantValue(node.query, context)
  const operand = compileOperand(node.operand, context)
  if (query === undefined) return unknown
  if (query === null) return constantCondition(null)
  const path = node.operand.kind === 'field' ? node.operand.path : undefined
  const { whereTrue, isNear, isTold } = wordBounds(operand, path, query)
  const doubts = operand?.doubts ?? []
  const isNull = operand ? decided(operand.isNull) : unproven
  const notFound = noneOf(whereTrue)
  const whereFalse = node.isSearch ? notFound : allOf([notFound, noneOf(isNull)])
  return { whereTrue, whereFalse, isTold, doubts, isNear }
}

/** Of values that rows are grouped, aggregated and sorted by, too. Undefined of those that only the body tells. */
export function compileOperand(
  node: BoundExpression,
  context: CompileContext,
): CompiledValue | undefined {
  const value = plainValue(node, context)
  if (value || node.type !== 'boolean') return value
  const condition = compileCondition(node, context)
  return condition.isTold ? truthValue(condition) : undefined
}

/** Undefined of conditions, too. */
function plainValue(node: BoundExpression, context: CompileContext): CompiledValue | undefined {
  return node.kind === 'conditional'
    ? conditional(node, context)
    : compileValue(node, context, compileOperand)
}

function truthValue(condition: CompiledCondition): CompiledValue {
  const { whereTrue, whereFalse } = condition
  const isNull = whereUnknown(condition).sure
  const truth = choice([
    { where: whereTrue.sure, sql: 'true' },
    { where: whereFalse.sure, sql: 'false' },
  ])
  const doubts = [...condition.doubts, openOf(whereTrue), openOf(whereFalse)]
  if (truth === 'NULL') return { ...nullValue, doubts }
  return { ...typedValue('boolean', truth, doubts), isNull }
}

function conditional(
  { branches, otherwise }: Extract<BoundExpression, { kind: 'conditional' }>,
  context: CompileContext,
): CompiledValue | undefined {
  const conditions = branches.map(({ condition }) =>
    toldTruth(compileCondition(condition, context)),
  )
  const results = [...branches.map(({ result }) => result), otherwise].map((result) =>
    compileOperand(result, context),
  )
  if (results.includes(undefined)) return undefined
  if (conditions.includes(undefined)) return undefined
  const values = results as CompiledValue[]
  const tests = conditions.map((condition) => condition!.sql)
  const choose = (of: (value: CompiledValue) => string): string => {
    const tested = tests.map((where, i) => ({ where, sql: of(values[i]!) }))
    return choice(tested, of(values.at(-1)!))
  }
  const typed = typedKinds
    .map((kind) => [kind, choose((value) => value.typed[kind] ?? 'NULL')] as const)
    .filter(([, sql]) => sql !== 'NULL')
  const where = (of: (value: CompiledValue) => string): string => {
    return disjunction(
      values.map((value, i) => {
        const before = tests.slice(0, i).map(negation)
        return conjunction([...before, tests[i] ?? '1', of(value)])
      }),
    )
  }
  return {
    ...nullValue,
    typed: Object.fromEntries(typed),
    isHidden: where(({ isHidden }) => isHidden),
    hidden: [...new Set(values.flatMap(({ hidden }) => hidden))],
    isNull: where(({ isNull }) => isNull),
    doubts: [
      ...conditions.flatMap((condition) => condition!.doubts),
      ...values.flatMap(({ doubts }) => doubts),
    ],
  }
}
