/**
 * Keeps the plans of queries that come again. A plan holds what the catalog said when it was made, so
 * each is kept with the questions that planning asked and the answers that it got. It is used again
 * only if the caller's own view gives the same answers now: rights are asked for every time, and
 * what has been created, renamed or deleted since, or a new field, makes the plan anew. Users share no
 * plans, as the time would tell one that another has asked the same.
 *
 * What a plan has of the query's instant is filled in each time that it is used, as constants are that queries of one
 * shape differ in (`plan-template.ts`). Plans that depend on chance are not kept.
 *
 * Plans belong to syntax trees, whatever these were written in. A text or an object that is like one before but for its
 * constants is not even read: it is known which tree it gives, and which of its constants stand where in that.
 */
import { LRUCache } from 'lru-cache'
import type { KnownFields } from '../binder/known-fields.ts'
import type { CatalogObject, CatalogView, NamedEntry } from '../catalog/catalog.ts'
import type { GivenQuery } from '../parser/given-query.ts'
import { parseRequest } from '../parser/parse-request.ts'
import { type CutLiteral, type CutQuery, cutLiterals, otherLiterals } from './cut-literals.ts'
import { cutObject } from './cut-object.ts'
import { type CutTree, cutTree } from './cut-tree.ts'
import {
  type PlanContext,
  type PlannedQuery,
  type PlanRecorder,
  type PlanRequest,
  planQuery,
} from './plan-query.ts'
import { Template } from './plan-template.ts'

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

/** A further key of a plan, besides its length. */
const keyBytes = 200

/** Of shapes that queries are written in, of objects, too: longer ones are not cut. */
const longestCut = 16 * 1024

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
  /** Whether all that it makes look up a row by its id. */
  readonly isLookUp: boolean
  readonly lookups: readonly Lookup[]
}

/** A query on the way to its plan. */
interface Asked {
  readonly request: PlanRequest
  /** Of the text as it is, if it is one. */
  readonly textKey: string | undefined
  readonly written: CutQuery
  readonly writtenKey: string
  /** Of the shape of its tree, and what was cut out of that. */
  readonly shapeKey: string
  readonly literals: readonly CutLiteral[]
  /** Undefined where it was known without reading the query. */
  readonly cut: CutTree | undefined
}

/** What is known of a shape that queries are written in. */
interface WrittenShape {
  readonly shapeKey: string
  /** Which of the literals that were written is each of the tree's; undefined where they are in one order. */
  readonly order: readonly number[] | undefined
}

export class PlanCache {
  /** By text, by tree, and by a tree's shape what makes the plans of all that have it. */
  readonly #plans = new LRUCache<string, CachedPlan>({ maxSize: maximumBytes })
  readonly #templates = new LRUCache<string, CachedTemplate>({ maxSize: maximumBytes })
  /** Shapes that one query had so far, and those of which no template can be made. */
  readonly #shapes = new LRUCache<string, 'once' | 'fixed'>({ max: keptShapes })
  readonly #written = new LRUCache<string, WrittenShape | 'read'>({ maxSize: maximumBytes / 4 })
  /** By user, of requests without options: one string is compared and hashed in no time, equal ones are not. */
  readonly #prefixes = new LRUCache<string, string>({ max: keptPrefixes })
  #hits = 0
  #misses = 0

  get statistics(): PlanStatistics {
    return { hits: this.#hits, misses: this.#misses, kept: this.#plans.size + this.#templates.size }
  }

  plan(request: PlanRequest, context: PlanContext, recorder: PlanRecorder): PlannedQuery {
    const { query } = request
    const started = recorder.now()
    const prefix = this.#prefixOf(request, context)
    const textKey = typeof query === 'string' ? prefix + query : undefined
    const same = textKey === undefined ? undefined : this.#find(this.#plans, textKey, context)
    const asked = same ? undefined : this.#ask(request, prefix, textKey)
    const kept = same?.planned ?? (asked && this.#again(asked, context))
    if (kept) {
      this.#hits++
      recorder.add('plan', started, { cache: 'hit', access: kept.physical.plan.access.kind })
      return kept
    }
    if (!asked) return planQuery(request, context, recorder)
    this.#misses++
    const cut = asked.cut ?? treeOf(request, asked.written)
    const { lookups, isOfNow, isOfChance, ...answering } = recorded(context)
    const planned = planQuery(request, answering.context, recorder, cut.tree)
    if (isOfChance()) return planned
    const isOpen = isOfNow()
    if (!isOpen) this.#keep(asked, { planned, lookups }, sizeOf(asked.shapeKey, lookups))
    if (asked.literals.length > 0 || isOpen) {
      this.#keepShape(asked, cut, context, { planned, lookups, isOpen })
    }
    return planned
  }

  /** Undefined of what is too long to be kept. Throws what is wrong with the form of the query. */
  #ask(request: PlanRequest, prefix: string, textKey: string | undefined): Asked | undefined {
    const written = cutQuery(request.query)
    if (!written) return undefined
    const writtenKey = prefix + written.shape
    const known = this.#written.get(writtenKey)
    if (known && known !== 'read') {
      const { shapeKey, order } = known
      const literals = order?.map((literal) => written.literals[literal]!) ?? written.literals
      return { request, textKey, written, writtenKey, shapeKey, literals, cut: undefined }
    }
    const cut = treeOf(request, written)
    const shapeKey = prefix + cut.shape
    return { request, textKey, written, writtenKey, shapeKey, literals: cut.literals, cut }
  }

  /** The plan that was made of the same tree, or can be made of that of one with the same shape. */
  #again(asked: Asked, context: PlanContext): PlannedQuery | undefined {
    const template = this.#find(this.#templates, asked.shapeKey, context)
    // Nobody looks for the same one again.
    const kept = template?.isLookUp
      ? undefined
      : this.#find(this.#plans, exactKeyOf(asked), context)
    if (template ?? kept) this.#learn(asked)
    if (kept) this.#keepText(asked, kept)
    if (kept || !template) return kept?.planned
    const planned = template.template.with(asked.literals, context)
    const { lookups } = template
    if (!template.isLookUp && !template.template.isOfNow)
      this.#keep(asked, { planned, lookups }, filledPlanBytes)
    return planned
  }

  #keep(asked: Asked, plan: CachedPlan, bytes: number): void {
    const key = exactKeyOf(asked)
    this.#plans.set(key, plan, { size: bytes + 2 * key.length })
    this.#keepText(asked, plan)
  }

  #keepText({ textKey }: Asked, plan: CachedPlan): void {
    if (textKey === undefined) return
    this.#plans.set(textKey, plan, { size: keyBytes + 2 * textKey.length })
  }

  /**
   * Finds out, and keeps, which tree queries have that are written as this one. It is read with other literals, of which
   * the tree must have all in places of which its shape does not tell.
   */
  #learn({ request, written, writtenKey, cut, literals, shapeKey }: Asked): void {
    if (!cut || this.#written.has(writtenKey)) return
    const others = otherLiterals(written.literals)
    const read = otherTree(request, written, others)
    const order = read?.literals.map(({ value }) => others.findIndex((o) => o.value === value))
    const isKnown =
      order && read?.shape === cut.shape && literals.length === order.length && !order.includes(-1)
    const isInOrder = order?.every((literal, i) => literal === i)
    const known = isKnown ? { shapeKey, order: isInOrder ? undefined : order } : 'read'
    this.#written.set(writtenKey, known, { size: keyBytes + 2 * writtenKey.length })
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

  /** A template is made of the second query that has the shape: most have none. */
  #keepShape(
    asked: Asked,
    cut: CutTree,
    context: PlanContext,
    { planned, lookups, isOpen }: CachedPlan & { readonly isOpen: boolean },
  ): void {
    const { request, shapeKey: key } = asked
    const seen = this.#shapes.get(key)
    if (seen === undefined) this.#shapes.set(key, 'once')
    if (seen !== 'once') return
    const template = templateOf(request, cut, context, { planned, isOpen })
    if (!template) {
      this.#shapes.set(key, 'fixed')
      return
    }
    const isLookUp = planned.physical.plan.access.kind === 'look_up'
    this.#templates.set(key, { template, lookups, isLookUp }, { size: sizeOf(key, lookups) })
    this.#learn(asked)
  }
}

/** Reads the query of a request. */
function treeOf({ query, from }: PlanRequest, { shape }: CutQuery): CutTree {
  return cutTree(parseRequest(query, from), shape.length > longestCut)
}

/** The tree of the query with other literals; undefined where they make none, as only some values are right there. */
function otherTree(
  request: PlanRequest,
  written: CutQuery,
  others: readonly CutLiteral[],
): CutTree | undefined {
  try {
    return treeOf({ ...request, query: written.with(others) }, written)
  } catch {
    return undefined
  }
}

/** Of a tree, literals included. No text has it. */
function exactKeyOf({ shapeKey, literals }: Asked): string {
  return `\0${shapeKey}\0${JSON.stringify(literals)}`
}

/** By estimate. */
function sizeOf(key: string, lookups: readonly Lookup[]): number {
  const entries = lookups.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0)
  return planBytes + key.length * bytesPerCharacter + entries * bytesPerObject
}

/** Undefined when the plan depends on which literals they are. */
function templateOf(
  request: PlanRequest,
  { literals, ...cut }: CutTree,
  context: PlanContext,
  { planned, isOpen }: { readonly planned: PlannedQuery; readonly isOpen: boolean },
): Template<PlannedQuery> | undefined {
  const holes = otherLiterals(literals)
  const silent: PlanRecorder = { now: () => 0, add: () => undefined }
  try {
    const planContext = isOpen ? withOpenNow(context) : context
    const value = planQuery(request, planContext, silent, cut.with(holes))
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

/** Undefined of what is too long to be kept. */
function cutQuery(query: GivenQuery): CutQuery | undefined {
  if (typeof query !== 'string') return cutObject(query)
  if (query.length > longestText) return undefined
  return cutLiterals(query) ?? { shape: query, literals: [], with: () => query }
}
