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
import { parseTimestamp } from '../type/time.ts'
import type { CutLiteral } from './cut-literals.ts'

type Step = string | number

interface Place {
  readonly steps: readonly Step[]
  /** Which of the literals. */
  readonly literal: number
  /** Whether it stands there as a time, in ms since 1970. */
  readonly isTime: boolean
}

/** A literal's place, or what is below an object that has some. */
type Holes = Omit<Place, 'steps'> | readonly (readonly [step: Step, below: Holes])[]

/** Puts literals into copies of a value that has `holes` in some places. */
export class Template<Value extends object> {
  /** With no wanted literals in the places. */
  readonly value: Value
  readonly places: readonly Place[]
  readonly #holes: Holes

  private constructor(value: Value, places: readonly Place[]) {
    this.value = value
    this.places = places
    this.#holes = holesOf(places, 0)
  }

  /**
   * A template of `value`, which was made with `holes` for literals; undefined when more than what is a
   * literal depends on them.
   *
   * @param example what was made with the literals `given`
   */
  static of<Value extends object>(
    value: Value,
    holes: readonly CutLiteral[],
    example: Value,
    given: readonly CutLiteral[],
  ): Template<Value> | undefined {
    const search = new HoleSearch(holes)
    if (!search.enter(value)) return undefined
    const found = new Set(search.places.map(({ literal }) => literal))
    if (found.size < holes.length) return undefined
    const template = new Template(value, search.places)
    return isDeepStrictEqual(template.with(given), example) ? template : undefined
  }

  /** The value with literals in the places; what has none of them is shared. */
  with(literals: readonly CutLiteral[]): Value {
    return filled(this.value, this.#holes, literals) as Value
  }
}

function holesOf(places: readonly Place[], depth: number): Holes {
  const [first] = places
  if (first?.steps.length === depth) return first
  const steps = new Set(places.map(({ steps }) => steps[depth]!))
  return Array.from(steps, (step) => {
    const below = places.filter(({ steps }) => steps[depth] === step)
    return [step, holesOf(below, depth + 1)] as const
  })
}

function filled(value: unknown, holes: Holes, literals: readonly CutLiteral[]): unknown {
  if ('literal' in holes) {
    const given = literals[holes.literal]!.value
    return holes.isTime ? parseTimestamp(String(given))?.ms : given
  }
  // Twice as fast as `...`, which knows few shapes of objects.
  const copy = (Array.isArray(value) ? value.slice() : Object.assign({}, value)) as Record<
    Step,
    unknown
  >
  for (const [step, below] of holes) copy[step] = filled(copy[step], below, literals)
  return copy
}

/** Deeper than any plan: what is nested deeper is not searched, and has no template. */
const deepest = 60

class HoleSearch {
  readonly places: Place[] = []
  readonly #byValue = new Map<unknown, Omit<Place, 'steps'>>()
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

  /** False when a hole is part of something else, or may be where it is not found. */
  enter(value: unknown): boolean {
    const hole = this.#byValue.get(value)
    if (hole) {
      this.places.push({ ...hole, steps: [...this.#path] })
      return true
    }
    if (typeof value === 'string') return !this.#isIn(value)
    if (typeof value !== 'object' || value === null) return typeof value !== 'function'
    if (this.#path.length > deepest || ArrayBuffer.isView(value)) return false
    const isPlain = Object.getPrototypeOf(value) === Object.prototype
    if (!Array.isArray(value) && !isPlain) return !this.#isIn(JSON.stringify(value) ?? '')
    for (const [name, member] of Object.entries(value)) {
      if (this.#isIn(name)) return false
      this.#path.push(name)
      const isFound = this.enter(member)
      this.#path.pop()
      if (!isFound) return false
    }
    return true
  }

  #isIn(text: string): boolean {
    return this.#texts.some((hole) => text.includes(hole))
  }
}
