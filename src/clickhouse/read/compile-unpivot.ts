/** Unpivots: which elements a row has, and the groups that are made of them. */
import { type BoundUnpivot, hiddenField, isHiddenField } from '../../binder/bound.ts'
import { constantValue } from '../../binder/evaluate.ts'
import type { GroupsStage, PhysicalPlan } from '../../planner/physical-plan.ts'
import type { Value } from '../../type/value.ts'
import { conjunction, disjunction } from './bounds.ts'
import { compileCondition, toldTruth } from './compile-condition.ts'
import { type CompiledGroups, compileGroups } from './compile-stage.ts'
import type { CompileContext, ElementValue } from './compile-value.ts'
import { constantElements, documentElements, type Elements, tagElements } from './elements.ts'

export interface CompiledPlanGroups extends CompiledGroups {
  /** What comes behind the table: ARRAY JOIN, or nothing. */
  readonly join: string
  /** Which of the rows that it makes pass. */
  readonly passes: string
}

/** By these names: elements of rows that are made, and of those that are tested. */
const [made, tested] = ['u', 'd']

/** Groups of the rows of a plan, or of what its unpivots make of these. Undefined of what Assay makes itself. */
export function compilePlanGroups(
  { unpivots, unpivotedPredicates }: PhysicalPlan,
  stage: GroupsStage,
  context: CompileContext,
): CompiledPlanGroups | undefined {
  if (unpivots.length === 0) {
    const groups = compileGroups(stage, context)
    return groups && { ...groups, join: '', passes: '1' }
  }
  const lists = unpivots.map((unpivot) => elementsOf(unpivot, context))
  // A row that stands for a group is stored, and has no elements.
  if (lists.includes(undefined) || stage.row) return undefined
  const elements = lists as Elements[]
  const compile = (name: string): ElementGroups | undefined => {
    const ofElements = withElements(context, unpivots, elements, name)
    return groupsOfElements(stage, unpivotedPredicates, ofElements)
  }
  const [groups, tests] = [compile(made), compile(tested)]
  if (!groups || !tests) return undefined
  const all = combined(elements.map(({ list }) => list))
  // What is in doubt of one element is so of the row.
  const ofRow = tests.doubts.filter((doubt, i) => doubt === groups.doubts[i])
  const ofElement = tests.doubts.filter((doubt, i) => doubt !== groups.doubts[i])
  const isAny = disjunction(ofElement)
  const inElements = isAny === '0' ? '0' : `arrayExists(${tested} -> ${isAny}, ${all})`
  return {
    ...groups,
    join: ` ARRAY JOIN ${all} AS ${made}`,
    doubts: [...ofRow, ...elements.flatMap(({ doubts }) => doubts), inElements],
  }
}

interface ElementGroups extends CompiledGroups {
  readonly passes: string
}

function groupsOfElements(
  stage: GroupsStage,
  predicates: PhysicalPlan['unpivotedPredicates'],
  context: CompileContext,
): ElementGroups | undefined {
  const groups = compileGroups(stage, context)
  const conditions = predicates.map((predicate) => {
    return toldTruth(compileCondition(predicate, context))
  })
  if (!groups || conditions.includes(undefined)) return undefined
  return {
    ...groups,
    passes: conjunction(conditions.map((condition) => condition!.sql)),
    doubts: [...groups.doubts, ...conditions.flatMap((condition) => condition!.doubts)],
  }
}

function elementsOf({ expression }: BoundUnpivot, context: CompileContext): Elements | undefined {
  const constant = constantValue(expression, context)
  if (constant !== undefined) {
    return Array.isArray(constant) ? constantElements(constant as readonly Value[]) : undefined
  }
  // Those of elements are left to Assay.
  if (expression.kind !== 'field' || isHiddenField(String(expression.path[0]))) return undefined
  return expression.path.join('.') === 'tags' ? tagElements : documentElements(expression.path)
}

/** The context of expressions over elements. */
function withElements(
  context: CompileContext,
  unpivots: readonly BoundUnpivot[],
  elements: readonly Elements[],
  name: string,
): CompileContext {
  const known = new Map<string, ElementValue>()
  for (const [i, { index }] of unpivots.entries()) {
    const element = unpivots.length === 1 ? name : `${name}.${i + 1}`
    known.set(hiddenField.unpivotName(index), (path) => elements[i]!.name(element, path))
    known.set(hiddenField.unpivotValue(index), (path) => elements[i]!.value(element, path))
  }
  // With all that the context inherits.
  return Object.assign(Object.create(context) as CompileContext, { elements: known })
}

/** All combinations of elements, as tuples. */
function combined(lists: readonly string[]): string {
  if (lists.length === 1) return lists[0]!
  const names = lists.map((_, i) => `e${i}`)
  const innermost = `tuple(${names.join(', ')})`
  const nested = lists.reduceRight((inner, list, i) => {
    const mapped = `arrayMap(${names[i]} -> ${inner}, ${list})`
    return i === lists.length - 1 ? mapped : `arrayFlatten(${mapped})`
  }, innermost)
  return nested
}
