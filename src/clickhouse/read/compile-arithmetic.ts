/** Arithmetic and functions of numbers: doubles, computed as they are here. What is no number, or has no finite result, is null. */
import type { BoundExpression } from '../../binder/bound.ts'
import { type CompiledValue, doubtsOfScalar, nullValue } from './compiled-value.ts'
import { named } from './statement-names.ts'

type Operator = Extract<BoundExpression, { kind: 'arithmetic' }>['operator']

/** What is left of a division is not computed alike. */
const signs = { add: '+', sub: '-', mul: '*', div: '/', mod: undefined } as const

export function compileArithmetic(
  operator: Operator,
  left: CompiledValue | undefined,
  right: CompiledValue | undefined,
): CompiledValue | undefined {
  if (!left || !right) return undefined
  const [first, second] = [plainNumber(left), plainNumber(right)]
  const sign = signs[operator]
  if (first === undefined || second === undefined || sign === undefined) return undefined
  return finiteNumber(`(${first} ${sign} ${second})`, [left, right])
}

/** The same number from the same double, whoever computes it. */
const functions: Readonly<Record<string, string>> = {
  abs: 'abs',
  ceil: 'ceil',
  floor: 'floor',
  sqrt: 'sqrt',
}

/** Of one argument; undefined of other functions. */
export function compileNumberFunction(
  name: string,
  argument: CompiledValue | undefined,
): CompiledValue | undefined {
  const number = argument && plainNumber(argument)
  const of = functions[name]
  if (!argument || number === undefined || of === undefined) return undefined
  return finiteNumber(`${of}(${number})`, [argument])
}

export function compileNegation(operand: CompiledValue | undefined): CompiledValue | undefined {
  const number = operand && plainNumber(operand)
  if (!operand || number === undefined) return undefined
  return finiteNumber(`(0. - ${number})`, [operand])
}

/** What arithmetic and sums compute with: a number, or a boolean as 0 or 1; else null. Undefined where only the body tells. */
export function numberOf({ typed, hidden }: CompiledValue): string | undefined {
  if (hidden.includes('number') || hidden.includes('boolean')) return undefined
  const { number, boolean } = typed
  const ofBoolean = boolean && `toFloat64(${boolean})`
  if (number && ofBoolean) return `coalesce(${number}, ${ofBoolean})`
  return number ?? ofBoolean ?? 'CAST(NULL AS Nullable(Float64))'
}

/** Undefined, too, of what may be a time. */
function plainNumber(value: CompiledValue): string | undefined {
  return value.typed.timestamp ? undefined : numberOf(value)
}

function finiteNumber(sql: string, operands: readonly CompiledValue[]): CompiledValue {
  const number = named({ result: sql }, 'if(isFinite(result), result, NULL)')
  return {
    ...nullValue,
    typed: { number },
    isNull: `isNull(${number})`,
    doubts: operands.flatMap(doubtsOfScalar),
  }
}
