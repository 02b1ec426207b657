import { describe, expect, test } from 'vitest'
import { KnownFields } from '../../src/binder/known-fields.ts'
import type { CatalogObject, CatalogView } from '../../src/catalog/catalog.ts'
import { type GivenQuery, JsonQuery } from '../../src/parser/given-query.ts'
import { PlanCache } from '../../src/planner/plan-cache.ts'
import type { PlanContext } from '../../src/planner/plan-query.ts'

function experiment(id: string, name = 'tried'): CatalogObject {
  return { type: 'experiment', id, name, number: 7, projectId: 'p', organizationId: 'o' }
}

/** A view of these experiments; rights that were taken away are left out. */
function viewOf(experiments: readonly CatalogObject[]): CatalogView {
  const project = { id: 'p', name: 'project' }
  const find = (id: string) => experiments.find((candidate) => candidate.id === id)
  return {
    readable: (_, id) => find(id),
    writable: (_, id) => find(id),
    readableInProject: () => experiments,
    readableOfType: () => experiments,
    readableByName: (_, name) => experiments.filter((candidate) => candidate.name === name),
    readableProject: () => project,
    organization: () => ({ id: 'o', name: 'organization' }),
  }
}

class Planner {
  readonly #cache = new PlanCache()
  readonly #events: string[] = []
  view = viewOf([experiment('e1')])
  fields = new KnownFields([])
  now = 1000

  /** Plans it, and says which stages that took. */
  plan(query: GivenQuery, options: { tzOffset?: number; useColumnstore?: boolean } = {}) {
    const { tzOffset = 0, ...request } = options
    this.#events.length = 0
    const recorder = { now: () => 0, add: (event: string) => void this.#events.push(event) }
    const { physical } = this.#cache.plan({ query, ...request }, this.#context(tzOffset), recorder)
    return { physical, isKept: this.#events.join() === 'plan' }
  }

  #context(tzOffset: number): PlanContext {
    return {
      now: this.now,
      tzOffset,
      view: this.view,
      randomSeed: this.now,
      knownFields: () => this.fields,
    }
  }
}

const query = "select: * | from: experiment('e1') | filter: id = 'x'"

test('a query that comes again has the plan that it had', () => {
  const planner = new Planner()
  const first = planner.plan(query)
  const second = planner.plan(query)
  expect([first.isKept, second.isKept]).toEqual([false, true])
  expect(second.physical).toBe(first.physical)
})

test('a query written in another way is planned where only some constants are right in a place', () => {
  const planner = new Planner()
  const clauses = planner.plan("select: input | from: experiment('e1') | preview_length: 8")
  const sql = "SELECT input FROM experiment('e1') SETTINGS preview_length = 8"
  expect(planner.plan(sql).physical).toBe(clauses.physical)
  expect(planner.plan(sql.replace('8', '9')).physical.plan.output.preview).toEqual({ length: 9 })
})

describe('a plan is made anew', () => {
  test('when the request says otherwise how it runs', () => {
    const planner = new Planner()
    planner.plan(query)
    expect(planner.plan(query, { useColumnstore: true }).isKept).toBe(false)
    expect(planner.plan(query).isKept).toBe(true)
  })

  test('when it has the day of another time zone', () => {
    const planner = new Planner()
    const today =
      "select: id | from: experiment('e1') | filter: created > day('2026-01-01T12:00:00Z')"
    const { physical } = planner.plan(today)
    expect(planner.plan(today, { tzOffset: 60 }).physical).not.toEqual(physical)
    expect(planner.plan(today, { tzOffset: 60 }).isKept).toBe(true)
    // Others do not depend on it.
    planner.plan(query)
    expect(planner.plan(query, { tzOffset: 60 }).isKept).toBe(true)
  })

  test('when the object has new fields, whose names a query may mean', () => {
    const planner = new Planner()
    const named = "select: accuracy | from: experiment('e1')"
    planner.fields = new KnownFields([['scores', 'accuracy']])
    planner.plan(named)
    planner.fields = new KnownFields([['accuracy'], ['scores', 'accuracy']])
    const { isKept, physical } = planner.plan(named)
    expect(isKept).toBe(false)
    expect(physical.plan.output.columns).toMatchObject([{ expression: { path: ['accuracy'] } }])
  })

  test('when there are other objects that it reads', () => {
    const planner = new Planner()
    const ofAll = "measures: count(1) as n | from: experiment('tried')"
    planner.plan(ofAll)
    expect(planner.plan(ofAll).isKept).toBe(true)
    // What was found is the same but in name: another entry took its place, as after a change.
    planner.view = viewOf([experiment('e1')])
    expect(planner.plan(ofAll).isKept).toBe(false)
  })

  test('when the project of its objects has one more', () => {
    const planner = new Planner()
    const experiments = [experiment('e1')]
    planner.view = viewOf(experiments)
    const ofProject = "select: id | from: project('p')"
    planner.plan(ofProject)
    expect(planner.plan(ofProject).isKept).toBe(true)
    experiments.push({ ...experiment('e2'), number: 8 })
    const { isKept, physical } = planner.plan(ofProject)
    expect(isKept).toBe(false)
    expect(physical.plan.objects.map(({ id }) => id)).toEqual(['e1', 'e2'])
  })

  test('when it depends on chance', () => {
    const planner = new Planner()
    const sample = "select: id | from: experiment('e1') | sample: 50%"
    planner.plan(sample)
    expect(planner.plan(sample).isKept).toBe(false)
  })
})

describe('a plan that depends on the instant of the query', () => {
  const times = [
    'created > now() - interval 1 day',
    "created > now() - interval 1 month and metadata.model = 'MODEL'",
    "metadata.model = 'MODEL' and created between now() - interval 2 hour and now()",
    'created >= current_date()',
    "created >= date_trunc('month', now()) or error is not null",
    'metrics.end > extract_epoch(now()) - 3600',
    'created in [now(), day(now())]',
  ]

  test.each(times)('is kept, and has the instant of each request: %s', (filter) => {
    const text = (model: string) =>
      `select: id | from: experiment('e1') | filter: ${filter.replaceAll('MODEL', model)}`
    const planner = new Planner()
    for (const model of ['a', 'b']) planner.plan(text(model))
    let days = 0
    for (const model of ['b', 'c', 'a', 'c']) {
      planner.now = Date.UTC(2026, 0, 29 + 17 * days++, 23, 59, 59, 999)
      const anew = new Planner()
      anew.now = planner.now
      const { physical, isKept } = planner.plan(text(model), { tzOffset: 60 * days })
      expect(physical).toEqual(anew.plan(text(model), { tzOffset: 60 * days }).physical)
      if (!filter.includes('current_date') && !/day|trunc/.test(filter)) expect(isKept).toBe(true)
    }
  })
})

describe('queries of one tree share what is planned, whatever they are written in', () => {
  const forms: Record<string, (id: string, n: number) => GivenQuery> = {
    'on one line': (id, n) =>
      `select: * | from: experiment('e1') | filter: id = '${id}' and scores.a > ${n}`,
    'on several, in another order': (id, n) =>
      `filter:\n  id = "${id}" AND scores.a>${n}  -- > 5\nfrom: experiment("e1")\nselect: *`,
    SQL: (id, n) => `SELECT * FROM experiment('e1') WHERE (id = '${id}') AND "scores".a > ${n}`,
    'an object': (id, n) => new JsonQuery(objectOf(id, n)),
    'an object of another client': (id, n) =>
      new JsonQuery({ cursor: null, ...objectOf(id, n), sort: [], measures: null }),
  }
  const names = Object.keys(forms)

  test.each(names.flatMap((first) => names.map((second) => [first, second] as const)))(
    '%s, then %s',
    (first, second) => {
      const planner = new Planner()
      planner.plan(forms[first]!('x', 1))
      planner.plan(forms[first]!('y', 2.5))
      for (const [id, n] of [
        ['z', 3],
        ['3', 0],
        ['y', 2.5],
      ] as const) {
        const { physical, isKept } = planner.plan(forms[second]!(id, n))
        expect(isKept).toBe(true)
        expect(physical).toEqual(new Planner().plan(forms[first]!(id, n)).physical)
      }
    },
  )

  test('the plan of the same query is the same, so that its answer may be', () => {
    const planner = new Planner()
    const physical = new Set(names.map((name) => planner.plan(forms[name]!('x', 1)).physical))
    expect(physical.size).toBe(1)
  })
})

test('an integer of an object that is no double is planned with all its digits', () => {
  const planner = new Planner()
  for (const n of [1, 2, 3]) planner.plan(new JsonQuery(objectOf('x', n)))
  const large = 12345678901234567000
  const { physical } = planner.plan(new JsonQuery(objectOf('x', large)))
  const text = `select: * | from: experiment('e1') | filter: id = 'x' and scores.a > ${large}`
  expect(physical).toEqual(new Planner().plan(text).physical)
})

test('an object that is asked again is not read again', () => {
  const planner = new Planner()
  const of = (limit: number) => ({ ...objectOf('x', 1), filter: undefined, limit })
  const asked = [1, 2, 3].map(() => new JsonQuery(of(5)))
  for (const query of asked) planner.plan(query)
  let isRead = false
  const last = new JsonQuery(of(5))
  Object.defineProperty(last, 'tree', { get: () => (isRead = true) })
  expect(planner.plan(last).isKept).toBe(true)
  expect(isRead).toBe(false)
})

function objectOf(id: string, n: number) {
  const field = (...name: string[]) => ({ op: 'ident', name })
  const literal = (value: unknown) => ({ op: 'literal', value })
  return {
    select: [{ op: 'star' }],
    from: { op: 'function', name: field('experiment'), args: [literal('e1')] },
    filter: {
      op: 'and',
      left: { op: 'eq', left: field('id'), right: literal(id) },
      right: { op: 'gt', right: literal(n), left: field('scores', 'a') },
    },
  }
}

test('whoever may not read what a plan reads gets the error, not the plan', () => {
  const planner = new Planner()
  planner.plan(query)
  planner.view = viewOf([])
  expect(() => planner.plan(query)).toThrow(/e1/)
})
