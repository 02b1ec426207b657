/**
 * The fields of a trace: those of the row that stands for it, but for its scores and metrics, which
 * are made of all of its spans. Only what is asked for is aggregated.
 */

import { isUsageMetric } from '../function/usage-metrics.ts'
import type { Expression } from '../parser/ast.ts'
import type { Path } from '../type/value.ts'
import {
  type BoundAggregate,
  type BoundExpression,
  type BoundGrouping,
  hiddenField,
  type StaticType,
} from './bound.ts'
import { type Call, type FieldSource, type Star, stepInto } from './field-source.ts'
import { fieldType, onlyArgument, type RecordFields } from './record-fields.ts'
import { structuralKey } from './rewrite.ts'

/** Metrics that no span has: a condition that names one of them tests the whole trace. */
export const traceMetrics: ReadonlySet<string> = new Set([
  'duration',
  'errors',
  'llm_calls',
  'llm_duration',
  'llm_errors',
  'tool_calls',
  'tool_errors',
  'total_tokens',
])

const madeColumns: ReadonlySet<string> = new Set(['metrics', 'scores', 'span_type_info'])

/** Added up over the spans of a trace; as are all metrics that are not named here. */
const sums = [
  'completion_reasoning_tokens',
  'completion_tokens',
  'prompt_cache_creation_tokens',
  'prompt_cached_tokens',
  'prompt_tokens',
  'tokens',
] as const

export class SummaryFields implements FieldSource {
  readonly #records: RecordFields
  readonly #bindSpan: (expression: Expression) => BoundExpression
  readonly #keys: readonly BoundExpression[] = [
    { kind: 'field', path: [hiddenField.object], type: 'number' },
    { kind: 'field', path: ['root_span_id'], type: 'string' },
  ]
  readonly #aggregates: BoundAggregate[] = []
  readonly #indexes = new Map<string, number>()
  readonly #metricsByName = new Map<string, BoundExpression | undefined>()

  /** @param bindSpan binds an expression over the spans */
  constructor(records: RecordFields, bindSpan: (expression: Expression) => BoundExpression) {
    this.#records = records
    this.#bindSpan = bindSpan
  }

  /** Complete when all expressions over the summary are bound. */
  grouping(): BoundGrouping {
    return {
      keys: this.#keys,
      aggregates: this.#aggregates,
      row: {
        preferred: { kind: 'field', path: ['is_root'], type: 'boolean' },
        pick: 'oldest',
        values: [],
      },
    }
  }

  field(path: Path): BoundExpression | undefined {
    const [name, ...rest] = path
    switch (name) {
      case 'scores':
        return this.#score(rest)
      case 'metrics':
        return this.#metric(rest)
      case 'span_type_info':
        return stepInto(this.#spanTypeInfo(), rest)
      case 'duration':
        return rest.length === 0 ? this.#metric(['duration']) : undefined
      default:
        return this.#records.field(path)
    }
  }

  nested(name: string): readonly Path[] {
    if (traceMetrics.has(name)) return [['metrics', name]]
    return this.#records.nested(name)
  }

  *names(): Iterable<string> {
    yield* this.#records.names()
    yield 'span_type_info'
  }

  call(call: Call): BoundExpression | undefined {
    switch (call.name) {
      case 'any_span': {
        const condition = this.#bindSpan(onlyArgument(call))
        const isTrue = this.#aggregate('bool_or', [condition], 'boolean')
        return firstOf(isTrue, { kind: 'constant', value: false, type: 'boolean' })
      }
      case 'estimated_cost':
        return this.#metric(['estimated_cost'])
      case 'estimated_cost_component':
        return this.#sum(this.#bindSpan(call))
      case 'estimated_cost_breakdown':
        return this.#aggregate('sum_entries', [this.#bindSpan(call)], 'json')
      default:
        return undefined
    }
  }

  star(): Star {
    const columns = [...madeColumns].map((name) => ({ name, expression: this.field([name])! }))
    return { fields: true, columns }
  }

  #score([name, ...rest]: Path): BoundExpression {
    const scores = storedField(['scores'])
    if (typeof name !== 'string') {
      return stepInto(
        this.#aggregate('avg_entries', [scores], 'json'),
        name === undefined ? [] : [name],
      )
    }
    return stepInto(this.#aggregate('avg', [storedField(['scores', name])], 'number'), rest)
  }

  #metric([name, ...rest]: Path): BoundExpression {
    if (typeof name !== 'string') return this.#metrics()
    const known = this.#knownMetric(name)
    const counted = isUsageMetric(name) ? this.#isCounted : undefined
    return stepInto(known ?? this.#sum(metric(name), counted), rest)
  }

  /** Whatever the spans have, and what is known of every trace. */
  #metrics(): BoundExpression {
    const others = this.#aggregate('sum_entries', [storedField(['metrics'])], 'json')
    const counted = this.#aggregate(
      'sum_entries',
      [storedField(['metrics'])],
      'json',
      this.#isCounted,
    )
    const usage: BoundExpression = {
      kind: 'call',
      name: 'usage_metrics',
      arguments: [counted],
      type: 'json',
    }
    const names = [
      'start',
      'end',
      'estimated_cost',
      'time_to_first_token',
      ...sums,
      ...traceMetrics,
    ]
    const entries = names.sort().map((name) => [name, this.#knownMetric(name)!] as const)
    const known: BoundExpression = { kind: 'object', entries, type: 'json' }
    return { kind: 'call', name: 'merge_objects', arguments: [others, usage, known], type: 'json' }
  }

  #knownMetric(name: string): BoundExpression | undefined {
    if (this.#metricsByName.has(name)) return this.#metricsByName.get(name)
    const bound = this.#bindMetric(name)
    this.#metricsByName.set(name, bound)
    return bound
  }

  #bindMetric(name: string): BoundExpression | undefined {
    const isError = isNotNull(storedField(['error']))
    switch (name) {
      case 'start':
        return this.#aggregate('min', [metric('start')], 'number')
      case 'end':
        return this.#aggregate('max', [metric('end')], 'number')
      case 'duration':
        return difference(this.#knownMetric('end')!, this.#knownMetric('start')!)
      case 'llm_duration':
        return this.#sum(difference(metric('end'), metric('start')), isOfType('llm'))
      case 'llm_calls':
        // A call within a call is the same one.
        return this.#count(both(isOfType('llm'), this.#isCounted))
      case 'tool_calls':
        return this.#count(isOfType('tool'))
      case 'llm_errors':
        return this.#count(both(isOfType('llm'), isError))
      case 'tool_errors':
        return this.#count(both(isOfType('tool'), isError))
      case 'errors':
        return {
          kind: 'arithmetic',
          operator: 'add',
          left: this.#knownMetric('llm_errors')!,
          right: this.#knownMetric('tool_errors')!,
          type: 'number',
        }
      case 'total_tokens':
        return this.#sum(firstOf(metric('total_tokens'), metric('tokens')), this.#isCounted)
      case 'estimated_cost':
        return this.#sum(this.#bindSpan(costCall))
      case 'time_to_first_token':
        return this.#aggregate('avg', [metric(name)], 'number', isOfType('llm'))
      default:
        return sums.some((sum) => sum === name)
          ? this.#sum(metric(name), this.#isCounted)
          : undefined
    }
  }

  /** Whether the usage of a span is no other span's, too. */
  get #isCounted(): BoundExpression {
    const repeats = this.#records.repeatsUsage()
    if (!repeats) return { kind: 'constant', value: true, type: 'boolean' }
    return { kind: 'not', operand: repeats, type: 'boolean' }
  }

  /** What the root says of its type, and whether spans were cached or failed. */
  #spanTypeInfo(): BoundExpression {
    const cached = comparison('gt', metric('cached'), number(0))
    const allCached = this.#aggregate(
      'bool_and',
      [firstOf(cached, { kind: 'constant', value: false, type: 'boolean' })],
      'boolean',
      isOfType('llm'),
    )
    const entries = [
      ['cached', firstOf(allCached, { kind: 'constant', value: false, type: 'boolean' })],
      ['has_error', this.#aggregate('bool_or', [isNotNull(storedField(['error']))], 'boolean')],
    ] as const
    const found: BoundExpression = { kind: 'object', entries, type: 'json' }
    const operands = [storedField(['span_attributes']), found]
    return { kind: 'call', name: 'merge_objects', arguments: operands, type: 'json' }
  }

  #sum(argument: BoundExpression, filter?: BoundExpression): BoundExpression {
    return this.#aggregate('sum', [argument], 'number', filter)
  }

  #count(filter: BoundExpression): BoundExpression {
    return this.#aggregate('count', [], 'number', filter)
  }

  #aggregate(
    name: BoundAggregate['name'],
    operands: readonly BoundExpression[],
    type: StaticType,
    filter?: BoundExpression,
  ): BoundExpression {
    const aggregate = { name, arguments: operands, parameters: [], distinct: false, filter, type }
    const key = structuralKey(aggregate)
    let index = this.#indexes.get(key)
    if (index === undefined) {
      index = this.#aggregates.push(aggregate) - 1
      this.#indexes.set(key, index)
    }
    return { kind: 'group_column', index: this.#keys.length + index, type }
  }
}

const nowhere = { start: 0, end: 0 }
const costCall: Call = {
  kind: 'call',
  name: 'estimated_cost',
  nameSpan: nowhere,
  arguments: [],
  distinct: false,
  filter: undefined,
  span: nowhere,
}

function storedField(path: Path): BoundExpression {
  return { kind: 'field', path, type: fieldType(path) }
}

function metric(name: string): BoundExpression {
  return storedField(['metrics', name])
}

function number(value: number): BoundExpression {
  return { kind: 'constant', value, type: 'number' }
}

function isOfType(type: 'llm' | 'tool'): BoundExpression {
  const constant: BoundExpression = { kind: 'constant', value: type, type: 'string' }
  return comparison('eq', storedField(['span_attributes', 'type']), constant)
}

function isNotNull(operand: BoundExpression): BoundExpression {
  return { kind: 'not', operand: { kind: 'is_null', operand, type: 'boolean' }, type: 'boolean' }
}

function both(...operands: readonly BoundExpression[]): BoundExpression {
  return { kind: 'and', operands, type: 'boolean' }
}

function firstOf(...operands: readonly BoundExpression[]): BoundExpression {
  return { kind: 'call', name: 'coalesce', arguments: operands, type: operands[0]!.type }
}

function difference(left: BoundExpression, right: BoundExpression): BoundExpression {
  return { kind: 'arithmetic', operator: 'sub', left, right, type: 'number' }
}

function comparison(
  operator: 'eq' | 'gt',
  left: BoundExpression,
  right: BoundExpression,
): BoundExpression {
  return { kind: 'comparison', operator, left, right, type: 'boolean' }
}
