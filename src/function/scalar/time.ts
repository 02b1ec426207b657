/** Functions of time. Calendar units are those of the user's clock, which `tz_offset` tells. */
import { type TimeUnit, truncate } from '../../type/time.ts'
import { Timestamp, type Value } from '../../type/value.ts'
import { timeOf, toTimestamp } from '../convert.ts'
import {
  dateDifference,
  datePart,
  dateParts,
  dateTrunc,
  differenceUnits,
  epochSeconds,
  parseDatePart,
  parseDifferenceUnit,
  parseTruncation,
  timeUnits,
} from '../time.ts'
import { type ArgumentFault, define, type ScalarFunction, takes } from './definition.ts'

export const timeFunctions: readonly ScalarFunction[] = [
  bucket('second', '2024-05-17T10:42:31.5Z', '2024-05-17T10:42:31Z'),
  bucket('minute', '2024-05-17T10:42:31Z', '2024-05-17T10:42:00Z'),
  bucket('hour', '2024-05-17T10:42:31Z', '2024-05-17T10:00:00Z'),
  bucket('day', '2024-05-17T10:42:31Z', '2024-05-17T00:00:00Z'),
  bucket('week', '2024-05-17T10:42:31Z', '2024-05-13T00:00:00Z'),
  bucket('month', '2024-05-17T10:42:31Z', '2024-05-01T00:00:00Z'),
  bucket('quarter', '2024-05-17T10:42:31Z', '2024-04-01T00:00:00Z'),
  bucket('year', '2024-05-17T10:42:31Z', '2024-01-01T00:00:00Z'),
  define('date_trunc', takes('unit, time', 2, 2, 'timestamp'), {
    description: 'Start of the unit, such as day or 15 minutes, that the time lies in',
    example: [`date_trunc('15 minutes', '2024-05-17T10:42:31Z')`, '"2024-05-17T10:30:00Z"'],
    check: ([unit]) =>
      unitFault(unit, parseTruncation, `${timeUnits.join(', ')}, or multiples such as 15 minutes`),
    evaluate: ([unit, time], { tzOffset }) => dateTrunc(unit!, time!, tzOffset),
  }),
  define('date_part', takes('unit, time', 2, 2, 'number'), {
    aliases: ['datepart'],
    description: `A number of the calendar or clock: ${dateParts.join(', ')}`,
    example: [`date_part('hour', '2024-05-17T10:42:31Z')`, '10'],
    check: ([unit]) => unitFault(unit, parseDatePart, dateParts.join(', ')),
    evaluate: ([unit, time], { tzOffset }) => datePart(unit!, time!, tzOffset),
  }),
  define('date_diff', takes('unit, from, to', 3, 3, 'number'), {
    aliases: ['datediff'],
    description: 'How many times a new second, hour, day, … begins between two times',
    example: [`date_diff('day', '2024-05-17T23:00:00Z', '2024-05-18T01:00:00Z')`, '1'],
    check: ([unit]) => unitFault(unit, parseDifferenceUnit, differenceUnits.join(', ')),
    evaluate: ([unit, from, to], { tzOffset }) => dateDifference(unit!, from!, to!, tzOffset),
  }),
  define('extract_epoch', takes('time', 1, 1, 'number'), {
    aliases: ['to_unixtime'],
    description: 'Seconds since 1970, with a fraction',
    example: [`extract_epoch('2024-05-17T10:42:31.5Z')`, '1715942551.5'],
    evaluate: ([value]) => {
      const time = toTimestamp(value!)
      return time && epochSeconds(time)
    },
  }),
  define('now', takes('', 0, 0, 'timestamp'), {
    aliases: ['current_timestamp'],
    description: 'The instant of the query, one for all of its rows',
    example: ['now() = now()', 'true'],
    evaluate: (_, { now }) => new Timestamp(now),
    isOfNow: true,
  }),
  define('current_date', takes('', 0, 0, 'timestamp'), {
    description: 'The start of the day of the query',
    example: ['current_date() = day(now())', 'true'],
    evaluate: (_, { now, tzOffset }) => new Timestamp(truncate('day', now, tzOffset)),
    isOfNow: true,
  }),
]

function bucket(unit: TimeUnit, time: string, start: string): ScalarFunction {
  return define(unit, takes('time', 1, 1, 'timestamp'), {
    description: `Start of the ${unit} that the time lies in`,
    example: [`${unit}('${time}')`, `"${start}"`],
    evaluate: ([value], { tzOffset }) => {
      const time = timeOf(value!)
      return time && new Timestamp(truncate(unit, time.ms, tzOffset))
    },
  })
}

function unitFault(
  unit: Value | undefined,
  parse: (unit: string) => unknown,
  known: string,
): ArgumentFault | undefined {
  if (unit === undefined || unit === null) return undefined
  if (typeof unit === 'string' && parse(unit) !== undefined) return undefined
  const message =
    typeof unit === 'string' ? `"${unit}" is no unit of time` : 'a unit of time is a text'
  return { argument: 0, message, hint: `units are ${known}` }
}
