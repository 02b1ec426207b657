/** What an entry in the table of scalar functions says. */
import type { Path, Value } from '../../type/value.ts'
import type { PriceTable } from '../prices.ts'

/** What a query fixes once for all of its rows. */
export interface FunctionContext {
  /** The instant of the query, in milliseconds. */
  readonly now: number
  /** Minutes that the user's clock is behind UTC. */
  readonly tzOffset: number
  /** What models cost; the built-in table when undefined. */
  readonly prices?: PriceTable
}

/** `argument`: whatever the arguments are; `json`: it depends on the row. */
export type ResultType =
  | 'boolean'
  | 'number'
  | 'integer'
  | 'string'
  | 'timestamp'
  | 'interval'
  | 'argument'
  | 'json'

/** A constant argument that can give no value in any row. */
export interface ArgumentFault {
  /** Which one, counted from 0. */
  readonly argument: number
  readonly message: string
  readonly hint: string
}

export interface ScalarFunction {
  readonly name: string
  readonly aliases: readonly string[]
  /** How the arguments are called in documentation and messages. */
  readonly signature: string
  readonly minArguments: number
  readonly maxArguments: number
  readonly result: ResultType
  /** `propagate`: null as soon as one argument is, without asking `evaluate`. */
  readonly nulls: 'propagate' | 'handled'
  readonly description: string
  /** A call and the JSON of what it gives. */
  readonly example: readonly [call: string, result: string]
  /** Looks at constant arguments once per query; undefined stands for those that are not constant. */
  readonly check: (args: readonly (Value | undefined)[]) => ArgumentFault | undefined
  /** Fields of the row that `evaluate` gets after the arguments that are written. */
  readonly fields: readonly Path[]
  /** Whether it tells what calls of models have used: null where a span repeats what others report. */
  readonly isUsage: boolean
  /** Whether the value depends on the query's instant. */
  readonly isOfNow: boolean
  readonly evaluate: (args: readonly Value[], context: FunctionContext) => Value
}

type Shape = Pick<ScalarFunction, 'signature' | 'minArguments' | 'maxArguments' | 'result'>
type Body = Pick<ScalarFunction, 'description' | 'example' | 'evaluate'> &
  Partial<Pick<ScalarFunction, 'aliases' | 'nulls' | 'check' | 'fields' | 'isUsage' | 'isOfNow'>>

export const unlimited = Number.POSITIVE_INFINITY

export function takes(
  signature: string,
  minArguments: number,
  maxArguments: number,
  result: ResultType,
): Shape {
  return { signature, minArguments, maxArguments, result }
}

export function define(name: string, shape: Shape, body: Body): ScalarFunction {
  return {
    name,
    aliases: [],
    nulls: 'propagate',
    check: () => undefined,
    fields: [],
    isUsage: false,
    isOfNow: false,
    ...shape,
    ...body,
  }
}
