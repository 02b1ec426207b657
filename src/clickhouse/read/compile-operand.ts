/** Values that rows are grouped, aggregated and sorted by: those of expressions, of conditions, and of choices between them. */
import type { BoundExpression } from '../../binder/bound.ts'
import { conjunction, disjunction, levelOf, negation } from './bounds.ts'
import { type CompiledCondition, compileCondition, whereUnknown } from './compile-condition.ts'
import { type CompileContext, compileValue } from './compile-value.ts'
import { type CompiledValue, nullValue, typedKinds, typedValue } from './compiled-value.ts'

/** Undefined of values that only the body tells. */
export function compileOperand(
  node: BoundExpression,
  context: CompileContext,
): CompiledValue | undefined {
  const value = compileValue(node, context)
  if (value) return value
  if (node.kind === 'conditional') return conditional(node, context)
  if (node.type !== 'boolean') return undefined
  const condition = compileCondition(node, context)
  return isDecided(condition) ? truthValue(condition) : undefined
}

/** Whether the cluster tells where a condition is true, and where it is false. */
export function isDecided({ whereTrue, whereFalse }: CompiledCondition): boolean {
  return levelOf(whereTrue) === 'exact' && levelOf(whereFalse) === 'exact'
}

function truthValue(condition: CompiledCondition): CompiledValue {
  const { whereTrue, whereFalse, doubts } = condition
  const truth = `multiIf(${whereTrue.sure}, true, ${whereFalse.sure}, false, NULL)`
  return { ...typedValue('boolean', truth, doubts), isNull: whereUnknown(condition).sure }
}

function conditional(
  { branches, otherwise }: Extract<BoundExpression, { kind: 'conditional' }>,
  context: CompileContext,
): CompiledValue | undefined {
  const conditions = branches.map(({ condition }) => compileCondition(condition, context))
  const results = [...branches.map(({ result }) => result), otherwise].map((result) =>
    compileOperand(result, context),
  )
  if (results.includes(undefined)) return undefined
  if (conditions.some(({ whereTrue }) => levelOf(whereTrue) !== 'exact')) return undefined
  const values = results as CompiledValue[]
  const tests = conditions.map(({ whereTrue }) => whereTrue.sure)
  const choose = (of: (value: CompiledValue) => string): string => {
    const parts = tests.map((test, i) => `${test}, ${of(values[i]!)}`)
    return `multiIf(${parts.join(', ')}, ${of(values.at(-1)!)})`
  }
  const kinds = typedKinds.filter((kind) => values.some(({ typed }) => typed[kind]))
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
    typed: Object.fromEntries(
      kinds.map((kind) => [kind, choose(({ typed }) => typed[kind] ?? 'NULL')]),
    ),
    isHidden: where(({ isHidden }) => isHidden),
    hidden: [...new Set(values.flatMap(({ hidden }) => hidden))],
    isNull: where(({ isNull }) => isNull),
    doubts: [
      ...conditions.flatMap(({ doubts }) => doubts),
      ...values.flatMap(({ doubts }) => doubts),
    ],
  }
}
