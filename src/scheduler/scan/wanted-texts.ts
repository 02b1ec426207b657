import type { BoundExpression } from '../../binder/bound.ts'
import type { TraceSet, TraceTexts } from '../../executor/expression/trace-set.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import type { Path } from '../../type/value.ts'

export interface WantedTexts {
  readonly path: readonly string[]
  readonly texts: readonly string[]
}

/** Each is a read of about a kilobyte per segment. */
const maximumTexts = 128

/**
 * A row that passes the predicate has one of the texts at the path; undefined when nothing of the kind
 * is known, or when they are many.
 *
 * @param traceSets those that predicates ask, as far as they are known
 */
export function wantedTexts(
  predicate: BoundExpression,
  traceSets: readonly TraceSet[],
): WantedTexts | undefined {
  const wanted = textsOfPredicate(predicate, traceSets)
  return wanted && wanted.texts.length <= maximumTexts ? wanted : undefined
}

function textsOfPredicate(
  predicate: BoundExpression,
  traceSets: readonly TraceSet[],
): WantedTexts | undefined {
  if (predicate.kind === 'in_traces') {
    const { trace, set } = predicate
    const { traces, numbered } = traceSets[set] ?? {}
    if (trace.kind !== 'field' || !traces || numbered) return undefined
    const count = traces.reduce((sum, { offsets }) => sum + offsets.length - 1, 0)
    if (count > maximumTexts) return undefined
    return ofField(trace.path, traces.flatMap(textsOf))
  }
  if (predicate.kind === 'comparison' && predicate.operator === 'eq') {
    const { left, right } = predicate
    const [field, other] = left.kind === 'field' ? [left, right] : [right, left]
    if (other.kind !== 'constant' || typeof other.value !== 'string') return undefined
    return field.kind === 'field' ? ofField(field.path, [other.value]) : undefined
  }
  if (predicate.kind !== 'in' || predicate.list.kind !== 'constant') return undefined
  const { operand, list } = predicate
  if (operand.kind !== 'field' || !Array.isArray(list.value)) return undefined
  const texts = list.value.filter((item) => typeof item === 'string')
  return texts.length === list.value.length ? ofField(operand.path, texts) : undefined
}

function textsOf({ bytes, offsets }: TraceTexts): string[] {
  return Array.from({ length: offsets.length - 1 }, (_, i) => {
    return decodeUtf8(bytes, offsets[i]!, offsets[i + 1]!)
  })
}

function ofField(path: Path, texts: readonly string[]): WantedTexts | undefined {
  const names = path.filter((part) => typeof part === 'string')
  return names.length === path.length ? { path: names, texts } : undefined
}
