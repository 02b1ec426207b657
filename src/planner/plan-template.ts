/**
 * One plan for queries that differ in their literals only (`cut-literals.ts`). The plan is made with other
 * literals in their places, and wherever those stand in the plan, the wanted ones are put when the plan is
 * used.
 *
 * That is right only if nothing depends on which values they are, which is checked, not assumed: those of
 * the first such query are put into the plan, and what comes must equal the plan made for that query. Later
 * values cannot be told from them either: a literal that is compared with a field is a constant to the
 * binder and to all rules, whatever its value, but for what `cut-literals.ts` takes for kinds of their own.
 */
import { isDeepStrictEqual } from 'node:util'
import { type BoundExpression, childrenOf } from '../binder/bound.ts'
import {
  awaitsNow,
  constantValue,
  type EvaluationContext,
  nodeForValue,
} from '../binder/evaluate.ts'
import { parseTimestamp } from '../type/time.ts'
import type { CutLiteral } from './cut-literals.ts'

type Step = string | number

/** What a place is filled with. */
type Filling =
  | {
      /** Which of the literals. */
      readonly literal: number
      /** Whether it stands there as a time, in ms since 1970. */
      readonly isTime: boolean
    }
  /** What has a value once the query's instant is known. */
  | { readonly ofNow: BoundExpression }

interface Place {
  readonly steps: readonly Step[]
  readonly filling: Filling
}

/** What fills a place, or what is below an object that has some. */
type Holes = Filling | readonly (readonly [step: Step, below: Holes])[]

/** Puts literals, and what depends on the query's instant, into copies of a value that has `holes` in some places. */
export class Template<Value extends object> {
  /** With no wanted literals in the places. */
  readonly value: Value
  /** Whether it has places that depend on the instant. */
  readonly isOfNow: boolean
  readonly #holes: Holes

  private constructor(value: Value, places: readonly Place[]) {
    this.value = value
    this.isOfNow = places.some(({ filling }) => 'ofNow' in filling)
    this.#holes = holesOf(places, 0)
  }

  /**
   * A template of `value`, which was made with `holes` for literals, and with an open instant; undefined when more
   * depends on them than what is filled in.
   *
   * @param example what was made with the literals `given`, and the context's instant
   */
  static of<Value extends object>(
    value: Value,
    holes: readonly CutLiteral[],
    example: Value,
    given: readonly CutLiteral[],
    context: EvaluationContext,
  ): Template<Value> | undefined {
    const search = new HoleSearch(holes)
    if (!search.enter(value, example)) return undefined
    const fillings = search.places.map(({ filling }) => filling)
    const found = new Set(fillings.flatMap((each) => ('literal' in each ? [each.literal] : [])))
    if (found.size < holes.length) return undefined
    const template = new Template(value, search.places)
    return isDeepStrictEqual(template.with(given, context), example) ? template : undefined
  }

  /** The value with literals in the places; what has none of them is shared. */
  with(literals: readonly CutLiteral[], context: EvaluationContext): Value {
    return filled(this.value, this.#holes, literals, context) as Value
  }
}

function holesOf(places: readonly Place[], depth: number): Holes {
  const [first] = places
  if (first?.steps.length === depth) return first.filling
  const steps = new Set(places.map(({ steps }) => steps[depth]!))
  return Array.from(steps, (step) => {
    const below = places.filter(({ steps }) => steps[depth] === step)
    return [step, holesOf(below, depth + 1)] as const
  })
}

function filled(
  value: unknown,
  holes: Holes,
  literals: readonly CutLiteral[],
  context: EvaluationContext,
): unknown {
  if ('ofNow' in holes) {
    const made = constantValue(holes.ofNow, context)
    return made === undefined ? value : (nodeForValue(made) ?? value)
  }
  if ('literal' in holes) {
    const given = literals[holes.literal]!.value
    return holes.isTime ? parseTimestamp(String(given))?.ms : given
  }
  // Twice as fast as `...`, which knows few shapes of objects.
  const copy = (Array.isArray(value) ? value.slice() : Object.assign({}, value)) as Record<
    Step,
    unknown
  >
  for (const [step, below] of holes) copy[step] = filled(copy[step], below, literals, context)
  return copy
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Plans have expressions beside objects of other kinds; only these have a type, too. */
function isExpression(value: object): value is BoundExpression {
  return 'kind' in value && 'type' in value && childrenOf(value as BoundExpression) !== undefined
}

/** Deeper than any plan: what is nested deeper is not searched, and has no template. */
const deepest = 60

class HoleSearch {
  readonly places: Place[] = []
  readonly #byValue = new Map<unknown, Filling>()
  /** As they would stand in texts. */
  readonly #texts: readonly string[]
  readonly #path: Step[] = []

  constructor(holes: readonly CutLiteral[]) {
    holes.forEach(({ kind, value }, literal) => {
      this.#byValue.set(value, { literal, isTime: false })
      if (kind === 'time') {
        this.#byValue.set(parseTimestamp(String(value))?.ms, { literal, isTime: true })
      }
    })
    this.#texts = Array.from(this.#byValue.keys(), String)
  }

  /**
   * False when a hole is part of something else, or may be where it is not found.
   *
   * @param example what stands in the same place of the example
   */
  enter(value: unknown, example: unknown): boolean {
    const hole = this.#byValue.get(value)
    if (hole) {
      this.places.push({ filling: hole, steps: [...this.#path] })
      return true
    }
    if (typeof value === 'string') return !this.#isIn(value)
    if (typeof value !== 'object' || value === null) return typeof value !== 'function'
    if (this.#path.length > deepest || ArrayBuffer.isView(value)) return false
    if (isExpression(value) && awaitsNow(value)) {
      // As it was written, it is not evaluated yet.
      if (isDeepStrictEqual(value, example)) return true
      if (this.#isIn(JSON.stringify(value))) return false
      this.places.push({ filling: { ofNow: value }, steps: [...this.#path] })
      return true
    }
    const isPlain = Object.getPrototypeOf(value) === Object.prototype
    if (!Array.isArray(value) && !isPlain) return !this.#isIn(JSON.stringify(value) ?? '')
    for (const [name, member] of Object.entries(value)) {
      if (this.#isIn(name)) return false
      this.#path.push(name)
      const isFound = this.enter(member, memberOf(example, name))
      this.#path.pop()
      if (!isFound) return false
    }
    return true
  }

  #isIn(text: string): boolean {
    return this.#texts.some((hole) => text.includes(hole))
  }
}
