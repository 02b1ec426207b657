import { AssayError, type EvictedVersion } from '../../error.ts'

/** Reads bodies of row versions that a cluster alone has. */
export type BodiesOf = (evicted: readonly EvictedVersion[]) => Promise<readonly SharedArrayBuffer[]>

/**
 * What `ask` answers, which is asked again with the bodies that it lacks, where a cluster alone has them.
 *
 * @param ask is given the bodies that are known
 * @param bodiesOf undefined where there is no cluster
 */
export async function withBodies<Result>(
  ask: (lent: readonly SharedArrayBuffer[]) => Result | Promise<Result>,
  bodiesOf: BodiesOf | undefined,
  lent: readonly SharedArrayBuffer[] = [],
): Promise<Result> {
  try {
    return await ask(lent)
  } catch (thrown) {
    const evicted = thrown instanceof AssayError ? thrown.evicted : undefined
    if (!evicted || !bodiesOf) throw thrown
    return withBodies(ask, bodiesOf, [...lent, ...(await bodiesOf(evicted))])
  }
}
