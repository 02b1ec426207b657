/** Of traces, whether a span may repeat the usage of others (`function/repeated-usage.ts`): few do, and only these are gone through. */
import type { BoundAggregate, BoundExpression } from '../../binder/bound.ts'
import { disjunction } from './bounds.ts'
import { compileCondition, compileOperand } from './compile-condition.ts'
import type { CompileContext } from './compile-value.ts'
import { documentElements } from './elements.ts'

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
  const span = spanId && compileOperand(spanId, context)?.typed.string
  const parents = parent && parentsOf(parent)
  if (!condition || span === undefined || !parents) return '1'
  const { whereTrue, doubts } = condition
  const inDoubt = disjunction([
    ...doubts,
    ...(compileOperand(spanId!, context)?.doubts ?? []),
    ...parents.doubts,
  ])
  const reporting = `groupArrayIf(cityHash64(${span}), ${whereTrue.may})`
  const above = `groupArrayArray(arrayMap(p -> cityHash64(${parents.text}), ${parents.list}))`
  const repeats = `(countIf(${whereTrue.may}) > 1 AND hasAny(${reporting}, ${above}))`
  return disjunction([inDoubt === '0' ? '0' : `(countIf(${inDoubt}) > 0)`, repeats])
}

/** All elements of the array that one of them is asked of. */
function parentsOf(parent: BoundExpression) {
  if (parent.kind !== 'field') return undefined
  const elements = documentElements(parent.path.slice(0, -1))
  const text = elements?.value('p', [])?.typed.string
  return (
    elements &&
    text && { list: elements.list, doubts: elements.doubts, text: `ifNull(${text}, '')` }
  )
}
