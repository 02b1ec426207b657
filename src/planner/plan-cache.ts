/**
 * Keeps the plans of queries that come again. A plan holds what the catalog said when it was made, so
 * each is kept with the questions that planning asked and the answers that it got. It is used again
 * only if the caller's own view gives the same answers now: rights are asked for every time, and
 * what has been created, renamed or deleted since, or a new field, makes the plan anew. Users share no
 * plans, as the time would tell one that another has asked the same.
 *
 * What a plan has of the query's instant is filled in each time that it is used, as constants are that texts of one
 * shape differ in (`plan-template.ts`). Plans that depend on chance are not kept.
 */
import { LRUCache } from 'lru-cache'
import type { KnownFields } from '../binder/known-fields.ts'
import type { CatalogObject, CatalogView, NamedEntry } from '../catalog/catalog.ts'
import { type CutLiteral, type CutText, otherLiterals } from './cut-literals.ts'
import {
  type PlanContext,
  type PlannedQuery,
  type PlanRecorder,
  type PlanRequest,
  planQuery,
} from './plan-query.ts'
import { Template } from './plan-template.ts'
import { RecentCuts } from './recent-cuts.ts'

/** All plans that are kept, by estimate, and as much of templates. */
const maximumBytes = 16 * 2 ** 20

/** Plans of longer texts, which are mostly lists of values, are not kept. */
const longestText = 32 * 1024

/** By estimate: a plan's own size, and what syntax tree and plan hold per character and object. */
const planBytes = 16 * 1024
const bytesPerCharacter = 40
const bytesPerObject = 300

/** A plan that a template made shares most with it. */
const filledPlanBytes = 2048

const keptShapes = 2000

/** Users whose prefix is kept. */
const keptPrefixes = 1000

type Answer = CatalogObject | NamedEntry | KnownFields | number | undefined

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
  readonly planned: PlannedQuery
  readonly lookups: readonly Lookup[]
}

interface CachedTemplate {
  readonly template: Template<PlannedQuery>
  readonly lookups: readonly Lookup[]
}

export class PlanCache {
  /** By text, and by shape what makes the plans of all texts of that shape. */
  readonly #plans = new LRUCache<string, CachedPlan>({ maxSize: maximumBytes })
  readonly #templates = new LRUCache<string, CachedTemplate>({ maxSize: maximumBytes })
  /** Shapes that one text had so far, and those of which no template can be made. */
  readonly #shapes = new LRUCache<string, 'once' | 'fixed'>({ max: keptShapes })
  readonly #cuts = new RecentCuts()
  /** By user, of requests without options: one string is compared and hashed in no time, equal ones are not. */
  readonly #prefixes = new LRUCache<string, string>({ max: keptPrefixes })
  #hits = 0
  #misses = 0

  get statistics(): PlanStatistics {
    return { hits: this.#hits, misses: this.#misses, kept: this.#plans.size + this.#templates.size }
  }

  plan(request: PlanRequest, context: PlanContext, recorder: PlanRecorder): PlannedQuery {
    if (request.query.length > longestText) return planQuery(request, context, recorder)
    const started = recorder.now()
    const { query } = request
    const prefix = this.#prefixOf(request, context)
    const key = prefix + query
    const kept = this.#find(this.#plans, key, context)
    const cut = kept ? undefined : this.#cuts.cut(prefix, query)
    const shapeKey = prefix + (cut?.shape ?? query)
    const template = kept ? undefined : this.#find(this.#templates, shapeKey, context)
    if (kept || template) {
      this.#hits++
      const planned = kept?.planned ?? this.#fill(template!, cut?.literals ?? [], key, context)
      recorder.add('plan', started, { cache: 'hit', access: planned.physical.plan.access.kind })
      return planned
    }
    this.#misses++
    const { lookups, isOfNow, isOfChance, ...answering } = recorded(context)
    const planned = planQuery(request, answering.context, recorder)
    if (isOfChance()) {
      this.#plans.delete(key)
      return planned
    }
    const isOpen = isOfNow()
    if (!isOpen) this.#plans.set(key, { planned, lookups }, { size: sizeOf(key, lookups) })
    if (cut || isOpen) {
      this.#keepShape(shapeKey, cut, request, context, { planned, lookups, isOpen })
    }
    return planned
  }

  /** What besides its text the plan of a request depends on; no two users have the same. */
  #prefixOf(request: PlanRequest, { view }: PlanContext): string {
    const { from, project, rootSpanId, inferenceDepth } = request
    const { useColumnstore = false, auditLog = false } = request
    const user = view.owner?.userId ?? ''
    const scope = [from, project, rootSpanId, inferenceDepth]
    const isScoped = scope.some((option) => option !== undefined)
    const isPlain = !isScoped && !useColumnstore && !auditLog
    const known = isPlain ? this.#prefixes.get(user) : undefined
    if (known !== undefined) return known
    const texts = isScoped ? JSON.stringify(scope) : ''
    const prefix = `${user},${useColumnstore},${auditLog},${texts}\n`
    if (isPlain) this.#prefixes.set(user, prefix)
    return prefix
  }

  /** Undefined where planning would be answered otherwise now. */
  #find<Kept extends Pick<CachedPlan, 'lookups'>>(
    cache: LRUCache<string, Kept>,
    key: string,
    context: PlanContext,
  ): Kept | undefined {
    const kept = cache.get(key)
    return kept && isUnchanged(kept, context) ? kept : undefined
  }

  /** The plan of a text, which is kept unless nobody looks for the same one again. */
  #fill(
    { template, lookups }: CachedTemplate,
    literals: readonly CutLiteral[],
    key: string,
    context: PlanContext,
  ): PlannedQuery {
    const planned = template.with(literals, context)
    if (!template.isOfNow && planned.physical.plan.access.kind !== 'look_up') {
      this.#plans.set(key, { planned, lookups }, { size: filledPlanBytes + 2 * key.length })
    }
    return planned
  }

  /** A template is made of the second text that has the shape: most have none. */
  #keepShape(
    key: string,
    cut: CutText | undefined,
    request: PlanRequest,
    context: PlanContext,
    { planned, lookups, isOpen }: CachedPlan & { readonly isOpen: boolean },
  ): void {
    const seen = this.#shapes.get(key)
    if (seen === undefined) this.#shapes.set(key, 'once')
    if (seen !== 'once') return
    const template = templateOf(request, cut, context, { planned, isOpen })
    if (template) this.#templates.set(key, { template, lookups }, { size: sizeOf(key, lookups) })
    else this.#shapes.set(key, 'fixed')
  }
}

/** By estimate. */
function sizeOf(key: string, lookups: readonly Lookup[]): number {
  const entries = lookups.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0)
  return planBytes + key.length * bytesPerCharacter + entries * bytesPerObject
}

/** Undefined when the plan depends on which literals they are. */
function templateOf(
  request: PlanRequest,
  cut: CutText | undefined,
  context: PlanContext,
  { planned, isOpen }: { readonly planned: PlannedQuery; readonly isOpen: boolean },
): Template<PlannedQuery> | undefined {
  const literals = cut?.literals ?? []
  const holes = otherLiterals(literals)
  const silent: PlanRecorder = { now: () => 0, add: () => undefined }
  try {
    const query = cut?.textWith(holes) ?? request.query
    const planContext = isOpen ? withOpenNow(context) : context
    const value = planQuery({ ...request, query }, planContext, silent)
    return Template.of(value, holes, planned, literals, context)
  } catch {
    // Only some values are right there.
    return undefined
  }
}

function withOpenNow(context: PlanContext): PlanContext {
  return Object.assign(Object.create(context) as PlanContext, { isNowOpen: true })
}

/** Whether planning would be answered as it was then. */
function isUnchanged({ lookups }: Pick<CachedPlan, 'lookups'>, context: PlanContext): boolean {
  return lookups.every(({ ask, answer }) => isSame(ask(context), answer))
}

function isSame(now: readonly Answer[] | undefined, then: readonly Answer[] | undefined): boolean {
  if (!now || !then) return now === then
  return now.length === then.length && now.every((entry, i) => entry === then[i])
}

interface RecordedContext {
  /** Answers as the context does, and writes down what it was asked. */
  readonly context: PlanContext
  readonly lookups: readonly Lookup[]
  /** Whether another instant may give another plan. */
  readonly isOfNow: () => boolean
  /** Whether another seed may. */
  readonly isOfChance: () => boolean
}

function recorded(context: PlanContext): RecordedContext {
  const lookups: Lookup[] = []
  let isOfNow = false
  let isOfChance = false
  let zone: number | undefined
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
  const { prices } = context
  return {
    context: {
      get tzOffset() {
        zone ??= one((asked) => asked.tzOffset)
        return zone
      },
      ...(prices && { prices }),
      view,
      knownFields: (object) => one((asked) => asked.knownFields(object)),
      get now() {
        isOfNow = true
        return context.now
      },
      get randomSeed() {
        isOfChance = true
        return context.randomSeed
      },
    },
    lookups,
    isOfNow: () => isOfNow,
    isOfChance: () => isOfChance,
  }
}
