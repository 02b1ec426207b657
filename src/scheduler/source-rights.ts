/** Ends queries that have begun once whoever asked may not read what they are of any more, or it is gone. */
import type { Catalog } from '../catalog/catalog.ts'
import { missingAccess } from '../catalog/missing-access.ts'
import { type AssayError, toAssayError } from '../error.ts'
import type { PhysicalQuery } from '../planner/physical-plan.ts'
import type { QueryPlans } from './query-plans.ts'
import type { QueryRequest } from './query-request.ts'
import type { QueryRunner } from './query-runner.ts'

/**
 * Changes of the catalog within this time are looked at together; that takes as long as planning each open query
 * again, and at most a tenth of all time.
 */
const recheckMs = 50
const recheckFactor = 9

interface OpenQuery {
  readonly id: string
  readonly request: QueryRequest
  readonly physical: PhysicalQuery
}

export class SourceRights {
  readonly #plans: QueryPlans
  readonly #runner: QueryRunner
  readonly #open = new Set<OpenQuery>()
  #timer: NodeJS.Timeout | undefined
  #waitMs = recheckMs

  constructor(catalog: Catalog, plans: QueryPlans, runner: QueryRunner) {
    this.#plans = plans
    this.#runner = runner
    catalog.onChange(() => {
      if (this.#open.size === 0) return
      this.#timer ??= setTimeout(() => this.#recheckAll(), this.#waitMs).unref()
    })
  }

  /** Looks at the query until what is returned is called. */
  watch(query: OpenQuery): () => void {
    this.#open.add(query)
    return () => this.#open.delete(query)
  }

  #recheckAll(): void {
    this.#timer = undefined
    const started = performance.now()
    for (const query of this.#open) {
      const fault = this.#faultOf(query)
      if (fault) this.#runner.cancelById(query.id, fault)
    }
    this.#waitMs = Math.max(recheckMs, (performance.now() - started) * recheckFactor)
  }

  #faultOf({ request, physical }: OpenQuery): AssayError | undefined {
    try {
      const { planned } = this.#plans.plan(request)
      const readable = new Set(planned.physical.plan.objects.map(({ number }) => number))
      const lost = physical.plan.objects.find(({ number }) => !readable.has(number))
      return lost && missingAccess('read', lost.type, lost.id)
    } catch (thrown) {
      return toAssayError(thrown)
    }
  }
}
