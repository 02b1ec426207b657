/** Conditions on groups: `users with more than 3 errors`, `models with average latency over 2 s`. */
import type { Amount } from './amount.ts'
import { takeAmount } from './amount.ts'
import {
  amountFits,
  takeComparator,
  takeMoreOrLess,
  takeSaidOf,
  toldAmount,
  withTail,
} from './comparison-phrase.ts'
import {
  dimensionOf,
  measureOf,
  takeAggregated,
  takeGroupField,
  timeDimension,
  timeUnitOf,
  tool,
  toolSpans,
} from './group-phrase.ts'
import type {
  Context,
  Dimension,
  Having,
  Measure,
  PhraseReader,
  Quantity,
  Recognized,
} from './phrase.ts'
import { quantityOf, takeCounted, takeQuantity } from './quantity.ts'

const joints = [
  ...['that have', 'that had', 'that has', 'who have', 'who had', 'who has', 'which have'],
  ...['which had', 'which has', 'with a', 'with an', 'with', 'having', 'whose', 'where', 'that'],
  ...['who', 'which'],
]

const none = ['without any', 'without', 'with no', 'with zero', 'that have no', 'who have no']

/** Groups are named first, then what each of them must come to. */
export function recognizeHaving(reader: PhraseReader, context: Context): Recognized | undefined {
  reader.take('the', 'which', 'what', 'all', 'any')
  const dimension = takeGroups(reader, context)
  if (!dimension) return undefined
  const having =
    reader.attempt(() => withNone(reader)) ??
    reader.attempt(() => {
      reader.take(...joints)
      return (
        reader.attempt(() => saidOf(reader, context)) ??
        reader.attempt(() => measuredThenAmount(reader, context)) ??
        reader.attempt(() => amountThenMeasured(reader, context))
      )
    })
  if (!having) return undefined
  const ofTools = dimension === tool ? [toolSpans] : []
  return reader.means(...ofTools, { kind: 'dimension', dimension }, { kind: 'having', having })
}

function takeGroups(reader: PhraseReader, context: Context): Dimension | undefined {
  const field = takeGroupField(reader, context)
  if (field) return dimensionOf(field)
  if (reader.take('tools')) return tool
  const unit = reader.takeIf((word) =>
    word.endsWith('s') ? timeUnitOf(word.slice(0, -1)) : undefined,
  )
  return unit && timeDimension(unit)
}

/** `users without errors`. */
function withNone(reader: PhraseReader): Having | undefined {
  const counted = reader.take(...none) ? takeCounted(reader) : undefined
  if (counted?.unit !== 'none') return undefined
  return { measure: measureOf(counted), test: '= 0', told: `no ${counted.name}` }
}

/** `models slower than 2 s`, `users who spent more than $5`. */
function saidOf(reader: PhraseReader, context: Context): Having | undefined {
  const said = takeSaidOf(reader)
  const amount = said && takeAmount(reader)
  return said && amount && having(measureOf(quantityOf(said.of, context)), said.operator, amount)
}

/** `average latency over 2 s`, `error rate above 5 %`. */
function measuredThenAmount(reader: PhraseReader, context: Context): Having | undefined {
  const found = takeMeasured(reader, context)
  if (!found) return undefined
  reader.take('is', 'was', 'of')
  const operator = takeComparator(reader)
  const amount = operator && takeAmount(reader)
  if (!operator || !amount || !amountFits(found.unit, amount.unit)) return undefined
  return having(found.measure, withTail(reader, operator, amount), amount)
}

/** `more than 3 errors`, `at least 10 requests`, `3 or more errors`, `over $5`. */
function amountThenMeasured(reader: PhraseReader, context: Context): Having | undefined {
  reader.take('used', 'using', 'made', 'sent')
  const apart = reader.attempt(() => countThenAmount(reader))
  if (apart) return apart
  const given = takeComparator(reader)
  const amount = takeAmount(reader)
  if (!amount) return undefined
  const operator = withTail(reader, given, amount)
  if (!operator) return undefined
  const counted = takeCounted(reader) ?? takeQuantity(reader, context)
  const quantity = counted ?? impliedBy(amount, context)
  return quantity && amountFits(quantity.unit, amount.unit)
    ? having(measureOf(quantity), operator, amount)
    : undefined
}

/** `fewer errors than 3`. */
function countThenAmount(reader: PhraseReader): Having | undefined {
  const operator = takeMoreOrLess(reader)
  const counted = operator && takeCounted(reader)
  const amount = counted && reader.take('than') ? takeAmount(reader) : undefined
  return operator && counted && amount ? having(measureOf(counted), operator, amount) : undefined
}

function impliedBy({ unit }: Amount, context: Context): Quantity | undefined {
  if (unit === 'dollars') return quantityOf('cost', context)
  return unit === 'tokens' ? quantityOf('tokens', context) : undefined
}

interface Measured {
  readonly measure: Measure
  readonly unit: Amount['unit']
}

function takeMeasured(reader: PhraseReader, context: Context): Measured | undefined {
  const aggregated = takeAggregated(reader, context)
  if (aggregated) return aggregated
  const quantity = takeCounted(reader) ?? takeQuantity(reader, context)
  return quantity && { measure: measureOf(quantity), unit: quantity.unit }
}

function having(measure: Measure, operator: string, amount: Amount): Having {
  return {
    measure,
    test: `${operator} ${amount.value}`,
    told: `${measure.told} ${operator} ${toldAmount(amount)}`,
  }
}
