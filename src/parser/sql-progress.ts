import { AssayError } from '../error.ts'
import type { Query } from './ast.ts'
import type { Token } from './token.ts'

/** How far a query of SQL is read. */
export interface SqlProgress {
  readonly clauses: { -readonly [Name in keyof Query]?: Query[Name] }
  /** What stands once at most and was given. */
  readonly given: Set<string>
  /** What could follow the clause before; undefined where nothing is known of it. */
  expected: string | undefined
}

/** Takes note that something is given; it may be given once. */
export function markGiven({ given }: SqlProgress, name: string, { start, end }: Token): void {
  if (given.has(name)) {
    throw new AssayError('PARSE_DUPLICATE_CLAUSE', `${name.toUpperCase()} is given twice`, {
      span: { start, end },
    })
  }
  given.add(name)
}
