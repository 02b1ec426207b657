/** Conversions, which `cast` and `::` call too. What cannot be converted is null. */
import { textOf } from '../../type/text.ts'
import { truncate } from '../../type/time.ts'
import { Timestamp } from '../../type/value.ts'
import { toBoolean, toInteger, toInterval, toNumber, toTimestamp } from '../convert.ts'
import { define, type ScalarFunction, takes } from './definition.ts'

export const convertingFunctions: readonly ScalarFunction[] = [
  define('to_string', takes('value', 1, 1, 'string'), {
    description: 'A string as it is, anything else as JSON',
    example: ['to_string([1, true])', '"[1,true]"'],
    evaluate: ([value]) => textOf(value!),
  }),
  define('to_number', takes('value', 1, 1, 'number'), {
    description: 'Reads a decimal number; booleans are 0 and 1',
    example: [`to_number('1.5')`, '1.5'],
    evaluate: ([value]) => toNumber(value!),
  }),
  define('to_integer', takes('value', 1, 1, 'integer'), {
    description: 'As to_number, without the fraction',
    example: [`to_integer('-1.9')`, '-1'],
    evaluate: ([value]) => toInteger(value!),
  }),
  define('to_boolean', takes('value', 1, 1, 'boolean'), {
    description: 'Reads true, false, 1 or 0; other numbers are true',
    example: [`to_boolean('TRUE')`, 'true'],
    evaluate: ([value]) => toBoolean(value!),
  }),
  define('to_date', takes('value', 1, 1, 'timestamp'), {
    description: 'The start of the day of a time',
    example: [`to_date('2024-05-17T10:42:31Z')`, '"2024-05-17T00:00:00Z"'],
    evaluate: ([value], { tzOffset }) => {
      const time = toTimestamp(value!)
      return time && new Timestamp(truncate('day', time.ms, tzOffset))
    },
  }),
  define('to_timestamp', takes('value', 1, 1, 'timestamp'), {
    aliases: ['to_datetime'],
    description: 'Reads an ISO 8601 time, or a number as seconds since 1970',
    example: ['to_timestamp(1715942551)', '"2024-05-17T10:42:31Z"'],
    evaluate: ([value]) => toTimestamp(value!),
  }),
  define('to_interval', takes('value', 1, 1, 'interval'), {
    description: 'Reads 1 day 2 hours or ISO 8601 P1DT2H, or a number as seconds',
    example: [`to_interval('1 day 2 hours')`, '"P1DT2H"'],
    evaluate: ([value]) => toInterval(value!),
  }),
]
