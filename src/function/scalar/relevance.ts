/** Functions that rank what a full-text search finds. */
import { searchedFields } from '../../type/search-query.ts'
import { relevanceOf } from '../relevance.ts'
import { define, type ScalarFunction, takes } from './definition.ts'

export const relevanceFunctions: readonly ScalarFunction[] = [
  define('match_score', takes('value, words', 2, 2, 'number'), {
    description:
      'How well the value fits what `match` would look for: 0 if nothing of it is there, more the more often it is and the shorter the value is',
    example: [
      `match_score('a refund', 'refund') > match_score('a refund is no return', 'refund')`,
      'true',
    ],
    evaluate: ([value, words]) => relevanceOf([value!], words!),
  }),
  define('search_score', takes('words', 1, 1, 'number'), {
    nulls: 'handled',
    fields: searchedFields.map((name) => [name]),
    description: 'The sum of match_score over the fields that `search` looks into',
    example: [`search_score('refund')`, '0'],
    evaluate: ([words, ...values]) => relevanceOf(values, words!),
  }),
]
