/** Functions of a row's cost. They read its fields by themselves (`costFields`). */
import { costBreakdown, costComponents, costFields, isCostComponent, totalCost } from '../cost.ts'
import { usageMetrics } from '../usage-metrics.ts'
import { define, type ScalarFunction, takes } from './definition.ts'

export const costFunctions: readonly ScalarFunction[] = [
  define('estimated_cost', takes('', 0, 0, 'number'), {
    nulls: 'handled',
    fields: costFields,
    isUsage: true,
    description:
      'Dollars that a call of a model has cost: metrics.estimated_cost, or its tokens at their price',
    example: ['estimated_cost()', 'null'],
    evaluate: (fields, { prices }) => totalCost(fields, prices),
  }),
  define('estimated_cost_breakdown', takes('', 0, 0, 'json'), {
    nulls: 'handled',
    fields: costFields,
    isUsage: true,
    description: 'An object of the parts of that cost, and of the tokens that they are for',
    example: ['estimated_cost_breakdown().completionTokens', 'null'],
    evaluate: (fields, { prices }) => costBreakdown(fields, prices),
  }),
  define('estimated_cost_component', takes('name', 1, 1, 'number'), {
    nulls: 'handled',
    fields: costFields,
    isUsage: true,
    description: `One part of that cost: ${costComponents.join(', ')}`,
    example: [`estimated_cost_component('completionTokensCost')`, 'null'],
    check: ([name]) =>
      name === undefined || isCostComponent(name)
        ? undefined
        : {
            argument: 0,
            message: 'this is no part of a cost',
            hint: `parts are ${costComponents.join(', ')}`,
          },
    evaluate: ([name, ...fields], { prices }) =>
      isCostComponent(name) ? (costBreakdown(fields, prices)?.[name] ?? null) : null,
  }),
  define('usage_metrics', takes('metrics', 1, 1, 'json'), {
    description: 'Of an object of metrics those that are tokens or costs',
    example: ['usage_metrics({tokens: 3, retries: 1})', '{"tokens":3}'],
    evaluate: ([metrics]) => usageMetrics(metrics!),
  }),
  define('repeats_usage', takes('', 0, 0, 'boolean'), {
    description:
      'Whether spans below this one report the same usage, as below agents, so that it counts once',
    example: ['repeats_usage()', 'false'],
    // The binder asks the spans of the trace; what is no span repeats none.
    evaluate: () => false,
  }),
]
