/** Where in a record a value is, as the rules see it: states that are made when they are first reached. */
import { type MemberName, Names } from './names.ts'
import { type MaskingStep, readMaskingPath } from './path.ts'
import { foldedName, type MaskingRule, renamedFields } from './rule.ts'

/** A rule's path, and how far a state has come in it. */
interface Position {
  readonly rule: number
  readonly step: number
}

interface Way {
  readonly steps: readonly MaskingStep[]
  /** Undefined: what the path names is meant, not members of it. */
  readonly fields: ReadonlySet<string> | undefined
  readonly isWhole: boolean
}

/** What holds for a value at some place. */
export interface PathState {
  readonly positions: readonly Position[]
  /** Rules whose patterns are looked for in it and all that is in it, ascending. */
  readonly patterns: readonly number[]
  /** The rule that masks all of it. */
  readonly whole: number | undefined
  /** Whether nothing of it is masked. */
  readonly isInert: boolean
  readonly byGroup: (PathState | undefined)[]
  readonly byIndex: Map<number, PathState>
}

const anyOther = -1

export class PathStates {
  readonly #ways: readonly Way[]
  readonly #states = new Map<string, PathState>()
  readonly #indexes: ReadonlySet<number>
  readonly names: Names
  readonly root: PathState

  constructor(rules: readonly MaskingRule[]) {
    this.#ways = rules.map(wayOf)
    const steps = this.#ways.flatMap(({ steps }) => steps)
    const exact = steps.flatMap((step) => (step.kind === 'name' ? [step.name] : []))
    const folded = this.#ways.flatMap(({ fields }) => [...(fields ?? [])])
    this.names = new Names(new Set([...renamedFields, ...exact]), new Set(folded))
    this.#indexes = new Set(
      steps.flatMap((step) => (step.kind === 'element' ? (step.index ?? []) : [])),
    )
    const begun = this.#ways.map((_, rule) => ({ rule, step: 0 }))
    const isFound = ({ rule }: Position) => this.#isHit({ rule, step: 0 })
    this.root = this.#state(
      begun.filter((position) => !isFound(position)),
      begun.filter(isFound).map(({ rule }) => rule),
      undefined,
    )
  }

  /** Of the member of that name. */
  named(state: PathState, name: MemberName): PathState {
    const known = state.byGroup[name.group]
    if (known) return known
    const folded = foldedName(name.text)
    const next = this.#next(
      state,
      (step) => step.kind === 'any' || (step.kind === 'name' && step.name === name.text),
      (fields) => fields.has(folded),
    )
    state.byGroup[name.group] = next
    return next
  }

  /** Of an element of an array. */
  element(state: PathState, index: number): PathState {
    const kind = this.#indexes.has(index) ? index : anyOther
    const known = state.byIndex.get(kind)
    if (known) return known
    const next = this.#next(
      state,
      (step) =>
        step.kind === 'any' ||
        (step.kind === 'element' && (step.index === undefined || step.index === index)),
      () => false,
    )
    state.byIndex.set(kind, next)
    return next
  }

  /** What holds in either. */
  either(a: PathState, b: PathState): PathState {
    const whole = Math.min(a.whole ?? Number.POSITIVE_INFINITY, b.whole ?? Number.POSITIVE_INFINITY)
    return this.#state(
      [...a.positions, ...b.positions],
      [...a.patterns, ...b.patterns],
      Number.isFinite(whole) ? whole : undefined,
    )
  }

  #next(
    state: PathState,
    takes: (step: MaskingStep) => boolean,
    isField: (fields: ReadonlySet<string>) => boolean,
  ): PathState {
    const positions: Position[] = []
    const found: number[] = []
    for (const position of state.positions) {
      const { rule, step } = position
      const { steps, fields } = this.#ways[rule]!
      if (step === steps.length) {
        // Members are looked for at any depth.
        positions.push(position)
        if (fields && isField(fields)) found.push(rule)
      } else if (takes(steps[step]!)) {
        const next = { rule, step: step + 1 }
        if (this.#isHit(next)) found.push(rule)
        else positions.push(next)
      }
    }
    const wholes = found.filter((rule) => this.#ways[rule]!.isWhole)
    const searched = found.filter((rule) => !this.#ways[rule]!.isWhole)
    const whole = wholes.length === 0 ? undefined : Math.min(...wholes)
    return this.#state(positions, [...state.patterns, ...searched], whole)
  }

  #isHit({ rule, step }: Position): boolean {
    const { steps, fields } = this.#ways[rule]!
    return fields === undefined && step === steps.length
  }

  #state(
    positions: readonly Position[],
    patterns: readonly number[],
    whole: number | undefined,
  ): PathState {
    const byPlace = (a: Position, b: Position) => a.rule - b.rule || a.step - b.step
    const distinct = [...new Map(positions.map((one) => [`${one.rule}.${one.step}`, one])).values()]
    const ordered = distinct.sort(byPlace)
    const active = [...new Set(patterns)].sort((a, b) => a - b)
    const key = JSON.stringify([ordered, active, whole])
    const known = this.#states.get(key)
    if (known) return known
    const state: PathState = {
      positions: ordered,
      patterns: active,
      whole,
      isInert: ordered.length === 0 && active.length === 0 && whole === undefined,
      byGroup: [],
      byIndex: new Map(),
    }
    this.#states.set(key, state)
    return state
  }
}

function wayOf({ path, fields, pattern }: MaskingRule): Way {
  const steps = path === undefined ? [] : readMaskingPath(path)
  return {
    steps: 'fault' in steps ? [] : steps,
    fields: fields && new Set(fields.map(foldedName)),
    isWhole: pattern === undefined,
  }
}
