/**
 * Keeps the plans of queries that come again. A plan holds what the catalog said when it was made, so
 * each is kept with the questions that planning asked and the answers that it got. It is used again
 * only if the caller's own view gives the same answers now: rights are asked for every time, and
 * what has been created, renamed or deleted since, or a new field, makes the plan anew. Users share no
 * plans, as the time would tell one that another has asked the same.
 *
 * Plans that depend on the time or on chance are not kept.
 */
import { LRUCache } from 'lru-cache'
import type { KnownFields } from '../binder/known-fields.ts'
import type { CatalogObject, CatalogView, NamedEntry } from '../catalog/catalog.ts'
import {
  type PlanContext,
  type PlannedQuery,
  type PlanRecorder,
  type PlanRequest,
  planQuery,
} from './plan-query.ts'
import { type CutText, cutId, otherId, Template } from './plan-template.ts'

/** All plans that are kept, by estimate. */
const maximumBytes = 32 * 2 ** 20

/** Plans of longer texts, which are mostly lists of values, are not kept. */
const longestText = 32 * 1024

/** By estimate: a plan's own size, and what syntax tree and plan hold per character and object. */
const planBytes = 16 * 1024
const bytesPerCharacter = 40
const bytesPerObject = 300

type Answer = CatalogObject | NamedEntry | KnownFields | undefined

/** A question, and the entries that it was answered with; they are never changed in place. */
interface Lookup {
  ask(context: PlanContext): readonly Answer[] | undefined
  readonly answer: readonly Answer[] | undefined
}

export interface PlanStatistics {
  readonly hits: number
  readonly misses: number
  readonly kept: number
}

interface CachedPlan {
  /** The plan; or of queries that differ in an id, what makes it. */
  readonly planned: PlannedQuery | Template<PlannedQuery>
  readonly lookups: readonly Lookup[]
}

export class PlanCache {
  readonly #plans = new LRUCache<string, CachedPlan>({ maxSize: maximumBytes })
  #hits = 0
  #misses = 0

  get statistics(): PlanStatistics {
    return { hits: this.#hits, misses: this.#misses, kept: this.#plans.size }
  }

  plan(request: PlanRequest, context: PlanContext, recorder: PlanRecorder): PlannedQuery {
    if (request.query.length > longestText) return planQuery(request, context, recorder)
    const started = recorder.now()
    const { query, from, rootSpanId, useColumnstore, inferenceDepth, auditLog } = request
    const options = [
      from,
      rootSpanId,
      useColumnstore === true,
      inferenceDepth,
      auditLog === true,
      context.tzOffset,
      context.view.owner?.userId,
    ]
    const prefix = JSON.stringify(options)
    const cut = cutId(query)
    const templateKey = cut && `${prefix}${cut.id.length},${cut.before}\n${cut.after}`
    const cached =
      (templateKey === undefined ? undefined : this.#plans.get(templateKey)) ??
      this.#plans.get(prefix + query)
    if (cached?.lookups.every(({ ask, answer }) => isSame(ask(context), answer))) {
      this.#hits++
      const { planned: kept } = cached
      const planned = kept instanceof Template ? kept.with(cut!.id) : kept
      recorder.add('plan', started, { cache: 'hit', access: planned.physical.plan.access.kind })
      return planned
    }
    this.#misses++
    const { lookups, isOfNow, ...answering } = recorded(context)
    const planned = planQuery(request, answering.context, recorder)
    const template = cut && !isOfNow() ? templateOf(request, cut, context, planned) : undefined
    const key = template && templateKey !== undefined ? templateKey : prefix + query
    if (isOfNow()) {
      this.#plans.delete(key)
    } else {
      const entries = lookups.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0)
      const size = planBytes + key.length * bytesPerCharacter + entries * bytesPerObject
      this.#plans.set(key, { planned: template ?? planned, lookups }, { size })
    }
    return planned
  }
}

/** Undefined when the plan depends on which id it is. */
function templateOf(
  request: PlanRequest,
  { before, after, id }: CutText,
  context: PlanContext,
  planned: PlannedQuery,
): Template<PlannedQuery> | undefined {
  const hole = otherId(id)
  const query = `${before}${hole}${after}`
  const silent: PlanRecorder = { now: () => 0, add: () => undefined }
  return Template.of(planQuery({ ...request, query }, context, silent), hole, planned, id)
}

function isSame(now: readonly Answer[] | undefined, then: readonly Answer[] | undefined): boolean {
  if (!now || !then) return now === then
  return now.length === then.length && now.every((entry, i) => entry === then[i])
}

interface RecordedContext {
  /** Answers as the context does, and writes down what it was asked. */
  readonly context: PlanContext
  readonly lookups: readonly Lookup[]
  /** Whether another time or seed may give another plan. */
  readonly isOfNow: () => boolean
}

function recorded(context: PlanContext): RecordedContext {
  const lookups: Lookup[] = []
  let isOfNow = false
  const one = <Entry extends Answer>(ask: (context: PlanContext) => Entry): Entry => {
    const answer = ask(context)
    lookups.push({ ask: (later) => [ask(later)], answer: [answer] })
    return answer
  }
  const list = <Entry extends Answer>(
    ask: (context: PlanContext) => readonly Entry[] | undefined,
  ): readonly Entry[] | undefined => {
    // Of its own: the catalog's list grows.
    const answer = ask(context)?.slice()
    lookups.push({ ask, answer })
    return answer
  }
  const view: CatalogView = {
    readable: (type, id) => one((asked) => asked.view.readable(type, id)),
    writable: (type, id) => one((asked) => asked.view.writable(type, id)),
    readableInProject: (id) => list((asked) => asked.view.readableInProject(id)),
    readableOfType: (type) => list((asked) => [...asked.view.readableOfType(type)])!,
    readableByName: (type, name) => list((asked) => asked.view.readableByName(type, name))!,
    readableProject: (idOrName) => one((asked) => asked.view.readableProject(idOrName)),
    organization: () => one((asked) => asked.view.organization()),
  }
  const { tzOffset, prices } = context
  return {
    context: {
      tzOffset,
      ...(prices && { prices }),
      view,
      knownFields: (object) => one((asked) => asked.knownFields(object)),
      get now() {
        isOfNow = true
        return context.now
      },
      get randomSeed() {
        isOfNow = true
        return context.randomSeed
      },
    },
    lookups,
    isOfNow: () => isOfNow,
  }
}
