import { followingWords, reservedWords } from './keyword.ts'
import type { Token } from './token.ts'

/** Words that begin a clause of SQL and are in SQL no field's name, unless quoted or after a dot. */
const reservedBeginnings: readonly string[] = [
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
]

/** Words that begin a clause after a finished one, and elsewhere are names like any other. */
const otherBeginnings: readonly string[] = [
  'unpivot',
  'pivot',
  'tablesample',
  'settings',
  'window',
  'qualify',
  'fetch',
]

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

/** Words at which a clause of SQL may begin, so that the one before it ends. */
export const sqlClauseWords: ReadonlySet<string> = new Set([
  ...reservedBeginnings,
  ...otherBeginnings,
])

export const sqlReservedWords: ReadonlySet<string> = new Set([
  ...reservedWords,
  ...reservedBeginnings,
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
  'with',
])

/** Whether a clause begins at the first of these tokens, judged without what stands before it. */
export function atSqlClause(peek: (distance: number) => Token): boolean {
  const { keyword } = peek(0)
  if (reservedBeginnings.includes(keyword)) return true
  if (!otherBeginnings.includes(keyword)) return false
  const next = peek(1)
  if (keyword === 'pivot' || keyword === 'unpivot') return next.keyword === '('
  return next.kind === 'word' || (keyword === 'tablesample' && next.kind !== 'end')
}
