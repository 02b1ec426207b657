import type { BoundExpression } from '../../binder/bound.ts'
import type { SemiJoinSet, TraceTexts } from '../../executor/expression/semi-join-set.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { type AskedTexts, askedTexts } from '../../planner/access-path.ts'

/** Each is a read of about a kilobyte per segment. */
const maximumTexts = 128

/**
 * A row that passes the predicate has one of the texts at the path; undefined when nothing of the kind
 * is known, or when they are many.
 *
 * @param semiJoinSets those that predicates ask, as far as they are known
 */
export function wantedTexts(
  predicate: BoundExpression,
  semiJoinSets: readonly SemiJoinSet[],
): AskedTexts | undefined {
  const wanted = textsOfPredicate(predicate, semiJoinSets)
  return wanted && wanted.texts.length <= maximumTexts ? wanted : undefined
}

function textsOfPredicate(
  predicate: BoundExpression,
  semiJoinSets: readonly SemiJoinSet[],
): AskedTexts | undefined {
  if (predicate.kind === 'in_traces') {
    const { trace, set } = predicate
    const { traces, numbered } = semiJoinSets[set] ?? {}
    if (trace.kind !== 'field' || !traces || numbered) return undefined
    const count = traces.reduce((sum, { offsets }) => sum + offsets.length - 1, 0)
    if (count > maximumTexts) return undefined
    const path = trace.path.filter((part) => typeof part === 'string')
    return path.length < trace.path.length ? undefined : { path, texts: traces.flatMap(textsOf) }
  }
  return askedTexts(predicate)
}

function textsOf({ bytes, offsets }: TraceTexts): string[] {
  return Array.from({ length: offsets.length - 1 }, (_, i) => {
    return decodeUtf8(bytes, offsets[i]!, offsets[i + 1]!)
  })
}
