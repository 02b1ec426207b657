/** From the text of a query to its plan. */
import { bindQuery } from '../binder/bind-query.ts'
import { type BoundQuery, objectsOf } from '../binder/bound.ts'
import { inProject } from '../binder/current-project.ts'
import type { EvaluationContext } from '../binder/evaluate.ts'
import type { KnownFields } from '../binder/known-fields.ts'
import { type ResultSchema, resultSchema } from '../binder/schema.ts'
import type { CatalogView } from '../catalog/catalog.ts'
import type { Query } from '../parser/ast.ts'
import type { GivenQuery } from '../parser/given-query.ts'
import { parseRequest } from '../parser/parse-request.ts'
import { scopeToTrace } from '../parser/scope-to-trace.ts'
import { explainLogical } from './explain.ts'
import { lint, type QueryWarning } from './lint.ts'
import { optimize } from './optimize.ts'
import type { PhysicalQuery } from './physical-plan.ts'
import { planLogical } from './plan-logical.ts'
import { planPhysical } from './plan-physical.ts'
import { summarizePlan } from './plan-summary.ts'

/** All that a request says of its plan; requests that agree in it, have the same. */
export interface PlanRequest {
  readonly query: GivenQuery
  readonly from?: string | undefined
  readonly rootSpanId?: string | undefined
  readonly useColumnstore?: boolean | undefined
  readonly inferenceDepth?: number | undefined
  readonly auditLog?: boolean | undefined
  /** Id or name of the project that sources without an id are of. */
  readonly project?: string | undefined
}

/** What a plan depends on besides its request. */
export interface PlanContext extends EvaluationContext {
  readonly view: CatalogView & { readonly owner?: { readonly userId: string } }
  /** What `random()` and samples without a seed start from. */
  readonly randomSeed: number
  knownFields(object: number): KnownFields
}

export interface PlannedQuery {
  readonly bound: BoundQuery
  readonly physical: PhysicalQuery
  readonly schema: ResultSchema
  readonly warnings: readonly QueryWarning[]
  /** How the query runs, in a few words. */
  readonly summary: string
  /** The same for plans that differ in their literals only, as far as it is known (`plan-template.ts`). */
  readonly family: object
}

/** Is told what the stages did, and when each began, in milliseconds of any clock. */
export interface PlanRecorder {
  now(): number
  add(
    event: string,
    started: number,
    details?: Readonly<Record<string, string | number | readonly string[]>>,
  ): void
  /** The logical plan as it was made, and after each rule that changed it; costs its printing. */
  readonly onLogicalPlan?: (rule: string | undefined, plan: string) => void
}

/**
 * Throws the first fault of the query.
 *
 * @param tree what `parseRequest` gives of the request, or has given of one like it
 */
export function planQuery(
  request: PlanRequest,
  context: PlanContext,
  recorder: PlanRecorder,
  tree?: Query,
): PlannedQuery {
  let started = recorder.now()
  const { project, rootSpanId, inferenceDepth, auditLog = false } = request
  const parsed = inProject(tree ?? parseRequest(request.query, request.from), project)
  const query = rootSpanId === undefined ? parsed : scopeToTrace(parsed, rootSpanId)
  recorder.add('parse', started)

  started = recorder.now()
  const bound = bindQuery(
    query,
    withMembers(context, {
      auditLog,
      ...(inferenceDepth !== undefined && { inferenceDepth }),
    }),
  )
  recorder.add('bind', started, { objects: objectsOf(bound).length })

  started = recorder.now()
  const fired: string[] = []
  const initial = planLogical(bound)
  recorder.onLogicalPlan?.(undefined, explainLogical(initial))
  const columnstore = request.useColumnstore === true
  const optimized = optimize(initial, withMembers(context, { columnstore }), (rule, changed) => {
    fired.push(rule)
    recorder.onLogicalPlan?.(rule, explainLogical(changed))
  })
  const physical = planPhysical(optimized)
  recorder.add('plan', started, { rules: fired, access: physical.plan.access.kind })
  return {
    bound,
    physical,
    schema: resultSchema(bound),
    warnings: lint(bound),
    summary: summarizePlan(physical),
    family: {},
  }
}

/** The context with more members; its own are not read by that, as whoever records reads may ask. */
function withMembers<Members extends object>(
  context: PlanContext,
  members: Members,
): PlanContext & Members {
  return Object.assign(Object.create(context) as PlanContext, members)
}
