/** Plans the queries of an engine, with what its records are known to have. */
import { randomInt } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { objectsOf } from '../binder/bound.ts'
import type { EvaluationContext } from '../binder/evaluate.ts'
import { KnownFields } from '../binder/known-fields.ts'
import type { CatalogView } from '../catalog/catalog.ts'
import type { RowForm } from '../executor/print/row-form.ts'
import type { PriceTable } from '../function/prices.ts'
import { PlanCache, type PlanStatistics } from '../planner/plan-cache.ts'
import {
  type PlanContext,
  type PlannedQuery,
  type PlanRecorder,
  planQuery,
} from '../planner/plan-query.ts'
import type { TaskReads } from '../storage/read/task-reads.ts'
import { formOf } from './answer/answer-form.ts'
import { evaluationContext, type QueryRequest } from './query-request.ts'

export interface QueryPlansOptions {
  readonly reads: TaskReads
  /** In ms since 1970. */
  readonly now: () => number
  readonly prices: PriceTable | undefined
}

/** What a query is run by. */
export interface RunnablePlan {
  readonly planned: PlannedQuery
  readonly context: EvaluationContext
}

/** Objects whose lists of fields are kept in memory; a list is at most some 100 KB. */
const cachedFieldLists = 500

const silentRecorder: PlanRecorder = { now: () => 0, add: () => undefined }

export class QueryPlans {
  readonly #options: QueryPlansOptions
  readonly #plans = new PlanCache()
  /** By object; dropped when a write says that there are more. */
  readonly #knownFields = new LRUCache<number, KnownFields>({ max: cachedFieldLists })

  readonly #knownFieldsOf = (object: number) => this.knownFieldsOf(object)

  constructor(options: QueryPlansOptions) {
    this.#options = options
  }

  get statistics(): PlanStatistics {
    return this.#plans.statistics
  }

  /** A plan that is kept, if the request's view gives the same answers as then. Throws the query's faults. */
  plan(request: QueryRequest, recorder: PlanRecorder = silentRecorder): RunnablePlan {
    const context = this.#evaluationContext(request)
    const planContext = this.#planContext(context, request.view)
    return { planned: this.#plans.plan(request, planContext, recorder), context }
  }

  /** A plan made anew, so that the recorder is told of all its stages. */
  planAnew(
    request: QueryRequest,
    recorder: PlanRecorder,
  ): { readonly planned: PlannedQuery; readonly context: EvaluationContext } {
    const context = this.#evaluationContext(request)
    return {
      planned: planQuery(request, this.#planContext(context, request.view), recorder),
      context,
    }
  }

  /** How the rows of a planned query are printed. */
  formOf(request: QueryRequest, { bound, physical, schema }: PlannedQuery): RowForm {
    const { format = 'json', separator = ',\n', escapesFormulas = false } = request
    const isWhole = bound.output.kind === 'rows' && bound.output.star
    const objects = isWhole && format !== 'json' ? objectsOf(bound) : []
    const moreFields = objects.flatMap(({ number }) => this.knownFieldsOf(number).extra)
    const { columns } = physical.plan.output
    return formOf({
      format,
      separator,
      escapesFormulas,
      schema,
      columns,
      moreFields: [...new Set(moreFields)],
    })
  }

  knownFieldsOf(object: number): KnownFields {
    const cached = this.#knownFields.get(object)
    if (cached) return cached
    const paths = this.#options.reads.during(({ records }) => records.fieldPaths(object))
    const fields = new KnownFields(paths)
    this.#knownFields.set(object, fields)
    return fields
  }

  /** The records of these objects have fields that they did not have before. */
  forgetFieldsOf(objects: Iterable<number>): void {
    for (const object of objects) this.#knownFields.delete(object)
  }

  #evaluationContext(request: Pick<QueryRequest, 'tzOffset'>): EvaluationContext {
    return evaluationContext(request, this.#options.now(), this.#options.prices)
  }

  #planContext(context: EvaluationContext, view: CatalogView): PlanContext {
    return new RequestContext(context, view, this.#knownFieldsOf)
  }
}

/** A class, as an object with a getter of its own takes ten times as long to make. */
class RequestContext implements PlanContext {
  readonly now: number
  readonly tzOffset: number
  declare readonly prices?: PriceTable
  readonly view: CatalogView
  readonly knownFields: (object: number) => KnownFields
  /** Few plans ask for it. In an object, because contexts are made that have this one as prototype. */
  readonly seed: { value?: number } = {}

  constructor(
    { now, tzOffset, prices }: EvaluationContext,
    view: CatalogView,
    knownFields: (object: number) => KnownFields,
  ) {
    this.now = now
    this.tzOffset = tzOffset
    if (prices) this.prices = prices
    this.view = view
    this.knownFields = knownFields
  }

  get randomSeed(): number {
    this.seed.value ??= randomInt(2 ** 31)
    return this.seed.value
  }
}
