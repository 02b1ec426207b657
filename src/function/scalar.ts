/** The scalar functions of the language, in one table; the documentation is made from it too. */
import type { Value } from '../type/value.ts'
import { choosingFunctions } from './scalar/choose.ts'
import { convertingFunctions } from './scalar/convert.ts'
import { costFunctions } from './scalar/cost.ts'
import type { FunctionContext, ScalarFunction } from './scalar/definition.ts'
import { jsonFunctions } from './scalar/json.ts'
import { numberFunctions } from './scalar/number.ts'
import { patternFunctions } from './scalar/pattern.ts'
import { relevanceFunctions } from './scalar/relevance.ts'
import { textFunctions } from './scalar/text.ts'
import { timeFunctions } from './scalar/time.ts'

export type { FunctionContext, ResultType, ScalarFunction } from './scalar/definition.ts'

export interface FunctionGroup {
  readonly title: string
  readonly functions: readonly ScalarFunction[]
}

/** In the order of the documentation. */
export const functionGroups: readonly FunctionGroup[] = [
  { title: 'Texts', functions: textFunctions },
  { title: 'Full text', functions: relevanceFunctions },
  { title: 'Regular expressions', functions: patternFunctions },
  { title: 'Numbers', functions: numberFunctions },
  { title: 'Times', functions: timeFunctions },
  { title: 'Arrays, objects and JSON', functions: jsonFunctions },
  { title: 'Choices', functions: choosingFunctions },
  { title: 'Conversions', functions: convertingFunctions },
  { title: 'Cost', functions: costFunctions },
]

export const scalarFunctions: readonly ScalarFunction[] = functionGroups.flatMap(
  ({ functions }) => functions,
)

const functionsByName = new Map(
  scalarFunctions.flatMap((entry) => [entry.name, ...entry.aliases].map((name) => [name, entry])),
)

/** Finds a function by its name or an alias, in lower case. */
export function scalarFunction(name: string): ScalarFunction | undefined {
  return functionsByName.get(name)
}

/** Calls a function by its rule for nulls. */
export function callScalar(
  scalar: ScalarFunction,
  args: readonly Value[],
  context: FunctionContext,
): Value {
  if (scalar.nulls === 'propagate' && args.includes(null)) return null
  return scalar.evaluate(args, context)
}
