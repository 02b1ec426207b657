/** The queries that have begun and not ended. */
import { AssayError } from '../../error.ts'
import { RunningQuery, type RunningQueryOptions } from './running-query.ts'

/** How many queries may run at once; undefined: any number. */
export interface ConcurrencyLimits {
  readonly perKey: number | undefined
  readonly perOrganization: number | undefined
}

export class RunningQueries {
  readonly #limits: ConcurrencyLimits
  readonly #queries = new Map<string, RunningQuery>()
  /** By id of a key or an organization. */
  readonly #counts = new Map<string, number>()

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#queries.size
  }

  /** Throws LIMIT_RATE when its owner has as many as are allowed. `end` must follow. */
  start(options: RunningQueryOptions): RunningQuery {
    const { owner } = options
    const { perKey, perOrganization } = this.#limits
    if (owner) {
      this.#check(owner.keyId, perKey, 'this key')
      this.#check(owner.organizationId, perOrganization, 'this organization')
      this.#count(owner.keyId, 1)
      this.#count(owner.organizationId, 1)
    }
    const query = new RunningQuery(options)
    this.#queries.set(query.id, query)
    return query
  }

  end(query: RunningQuery): void {
    if (!this.#queries.delete(query.id) || !query.owner) return
    this.#count(query.owner.keyId, -1)
    this.#count(query.owner.organizationId, -1)
  }

  get(id: string): RunningQuery | undefined {
    return this.#queries.get(id)
  }

  /** The one that began first comes first. */
  list(): RunningQuery[] {
    return [...this.#queries.values()]
  }

  #check(id: string, limit: number | undefined, whose: string): void {
    if (limit === undefined || (this.#counts.get(id) ?? 0) < limit) return
    const queries = limit === 1 ? 'a query that runs' : `${limit} queries that run`
    throw new AssayError('LIMIT_RATE', `${whose} has ${queries}, and may have no more at once`, {
      hint: 'wait until one has ended',
    })
  }

  #count(id: string, change: number): void {
    const count = (this.#counts.get(id) ?? 0) + change
    if (count > 0) this.#counts.set(id, count)
    else this.#counts.delete(id)
  }
}
