/** Finds the types of columns before the first row leaves, by whichever way reads less. */
import { type BoundExpression, fieldsOf, type StaticType } from '../../binder/bound.ts'
import { assert } from '../../error.ts'
import { vectorOf } from '../../executor/column/wire-values.ts'
import { type ColumnsForm, type FormColumn, isInferred } from '../../executor/print/row-form.ts'
import type { Relation } from '../../executor/relation/relation.ts'
import { groupColumn } from '../../executor/relation/relation-parts.ts'
import { typeOfBits, valueBit } from '../../format/column-type.ts'
import type { ComparisonOperator } from '../../parser/ast.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { valueReader } from '../../vector/vector.ts'
import { type PlanRun, segmentsOf } from '../scan/scan-rows.ts'

/** Looks at all rows of a relation. */
export async function inferByRows(
  form: ColumnsForm,
  relation: Relation,
  run: PlanRun,
): Promise<ColumnsForm> {
  const { plan, context, semiJoinSets, cancelled, pool, audit } = run
  if (isInferred(form) && !plan.output.star && relation.rows) return form
  const started = audit.now()
  const segments = segmentsOf(run)
  const task = {
    kind: 'infer form',
    plan,
    context,
    semiJoinSets,
    relation,
    segments,
    form,
    cancelled,
  } as const
  const inferred = await pool.run(task)
  audit.add('types', started, { rows: relation.rowCount })
  return inferred.form
}

/**
 * The plan that groups the rows of another by what their open columns hold, column by column: types
 * for rows that are too many to be looked at before they are printed. It may see more rows than the
 * plan gives.
 */
export function planOfKinds(plan: PhysicalPlan, columns: readonly FormColumn[]): PhysicalPlan {
  const keys = columns.map(({ expression }) => kindOf(expression))
  const fields = fieldsOf(keys).map((path) => String(path[0]))
  const stored = fields.filter((name) => !name.startsWith('#'))
  const stages: PhysicalPlan['stages'] = []
  return {
    ...plan,
    stage: { kind: 'groups', keys, aggregates: [], row: undefined },
    sort: [],
    afterSorted: undefined,
    limit: undefined,
    offset: 0,
    stages,
    output: { star: false, columns: [], preview: undefined },
    scannedFields: [...new Set([...plan.scannedFields, ...stored])].sort(),
  }
}

/** @param kinds the groups of `planOfKinds`: a key for each column that was open */
export function withKinds(form: ColumnsForm, kinds: Relation): ColumnsForm {
  let open = 0
  return {
    ...form,
    columns: form.columns.map((column) => {
      if (column.type !== undefined) return column
      const values = groupColumn(kinds, open++)
      assert(values, 'the kinds of a column were not asked for')
      const read = valueReader(vectorOf(values))
      let bits = 0
      for (let row = 0; row < kinds.rowCount; row++) bits |= bitOfKind.get(String(read(row))) ?? 0
      return { ...column, type: typeOfBits(bits) }
    }),
  }
}

const bitOfKind: ReadonlyMap<string, number> = new Map([
  ['null', 0],
  ['boolean', valueBit.boolean],
  ['integer', valueBit.integer],
  ['fraction', valueBit.fraction],
  ['big', valueBit.big],
  ['huge', valueBit.huge],
  ['string', valueBit.text],
  ['timestamp', valueBit.timestamp],
  ['interval', valueBit.other],
  ['array', valueBit.other],
  ['object', valueBit.other],
])

/**
 * What a value is, and of numbers which: `big` and `huge` are integers that a double cannot hold,
 * `integer` others that 64 bits can. Of anything else it is what `typeof` says.
 */
function kindOf(value: BoundExpression): BoundExpression {
  const kind = call('typeof', 'string', [value])
  const size = call('abs', 'number', [value])
  // A power is computed as a double.
  const isRounded = compare('ne', call('power', 'number', [value, constant(1)]), value)
  const isWhole = compare('eq', call('floor', 'number', [value]), value)
  const isBeyond = compare('gt', size, constant(greatestInteger))
  return choose([
    [compare('ne', kind, constant('number')), kind],
    [and(isRounded, isBeyond), constant('huge')],
    [isRounded, constant('big')],
    [and(isWhole, not(isBeyond)), constant('integer')],
    [constant(true), constant('fraction')],
  ])
}

const greatestInteger = 2n ** 63n - 1n

function constant(value: string | number | bigint | boolean): BoundExpression {
  const type = typeof value === 'bigint' ? 'number' : (typeof value as 'string')
  return { kind: 'constant', value, type }
}

function call(name: string, type: StaticType, args: readonly BoundExpression[]): BoundExpression {
  return { kind: 'call', name, type, arguments: args }
}

function compare(
  operator: ComparisonOperator,
  left: BoundExpression,
  right: BoundExpression,
): BoundExpression {
  return { kind: 'comparison', operator, left, right, type: 'boolean' }
}

function and(...operands: readonly BoundExpression[]): BoundExpression {
  return { kind: 'and', operands, type: 'boolean' }
}

function not(operand: BoundExpression): BoundExpression {
  return { kind: 'not', operand, type: 'boolean' }
}

function choose(
  branches: readonly (readonly [condition: BoundExpression, result: BoundExpression])[],
): BoundExpression {
  return {
    kind: 'conditional',
    type: 'string',
    branches: branches.map(([condition, result]) => ({ condition, result })),
    otherwise: constant('null'),
  }
}
