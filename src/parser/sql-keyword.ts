import { followingWords, reservedWords } from './keyword.ts'

/** Words that begin a clause of SQL and are in SQL no field's name, unless quoted or after a dot. */
const clauseBeginnings = [
  'select',
  'from',
  'where',
  'group',
  'having',
  'order',
  'limit',
  'offset',
  'union',
  'intersect',
  'except',
] as const

/** Words that begin a clause where one may stand, and elsewhere are names like any other. */
const softBeginnings = ['unpivot', 'pivot', 'tablesample', 'settings', 'window', 'qualify'] as const

/** Words at which a clause of SQL may begin, and so the one before it ends. */
export const sqlClauseWords: ReadonlySet<string> = new Set([...clauseBeginnings, ...softBeginnings])

export const sqlReservedWords: ReadonlySet<string> = new Set([
  ...reservedWords,
  ...clauseBeginnings,
])

/** Words that join two sources. */
export const joinWords: ReadonlySet<string> = new Set([
  'join',
  'inner',
  'left',
  'right',
  'full',
  'outer',
  'cross',
  'natural',
  'lateral',
])

/** Words that may follow a finished expression of SQL, so that none of them is an alias without `as`. */
export const sqlFollowingWords: ReadonlySet<string> = new Set([
  ...followingWords,
  ...sqlClauseWords,
  ...joinWords,
  'filter',
  'for',
  'nulls',
  'on',
  'over',
  'using',
])
