/** Of traces, whether a span may repeat the usage of others (`function/repeated-usage.ts`): few do, and only these are gone through. */
import type { BoundAggregate, BoundExpression } from '../../binder/bound.ts'
import { disjunction } from './bounds.ts'
import { compileCondition, compileOperand } from './compile-condition.ts'
import type { CompileContext } from './compile-value.ts'
import { documentValue } from './record-value.ts'

/**
 * SQL of a group of the spans of a trace. Where it does not hold, no span that reports usage is the parent of another one.
 *
 * @param usage `repeated_usage(id, span_id, reports, type, purpose, parent, …)`
 */
export function mayRepeatUsage(
  { arguments: list }: BoundAggregate,
  context: CompileContext,
): string {
  const [, spanId, reports, , , parent] = list
  const condition = reports && compileCondition(reports, context)
  const id = spanId && compileOperand(spanId, context)
  const span = id?.typed.string
  const parents = parent && parentsOf(parent)
  if (!condition || !id || span === undefined || !parents) return '1'
  const { whereTrue, doubts } = condition
  const inDoubt = disjunction([...doubts, ...id.doubts, ...parents.doubts])
  const reporting = `groupArrayIf(cityHash64(${span}), ${whereTrue.may})`
  const above = `groupArrayArray(${parents.hashes})`
  const repeats = `(countIf(${whereTrue.may}) > 1 AND hasAny(${reporting}, ${above}))`
  return disjunction([inDoubt === '0' ? '0' : `(countIf(${inDoubt}) > 0)`, repeats])
}

/** Hashes of all texts of the array that one of them is asked of; and of others, whose texts are those of no span. */
function parentsOf(parent: BoundExpression) {
  const whole = parent.kind === 'field' ? documentValue(parent.path.slice(0, -1)) : undefined
  const array = whole?.typed.array
  if (!whole || array === undefined) return undefined
  const json = `ifNull(${array}, '[]')`
  const hashes = `arrayMap(p -> cityHash64(p), JSONExtract(${json}, 'Array(String)'))`
  return { hashes, doubts: [...whole.doubts, `(NOT isValidJSON(${json}))`] }
}
