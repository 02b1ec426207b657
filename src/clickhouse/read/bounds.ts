/**
 * Between what the truth of a condition is: `sure` holds only where the condition does, `may` wherever it does. Both are
 * SQL that gives 0 or 1, never null.
 */
export interface Bounds {
  readonly sure: string
  readonly may: string
}

/** Conditions that the cluster decides, those that it narrows, and those that it knows nothing of. */
export type ProofLevel = 'exact' | 'superset' | 'none'

export const always: Bounds = { sure: '1', may: '1' }
export const never: Bounds = { sure: '0', may: '0' }
/** Nothing is known. */
export const unproven: Bounds = { sure: '0', may: '1' }

export function decided(sql: string): Bounds {
  return { sure: sql, may: sql }
}

export function levelOf({ sure, may }: Bounds): ProofLevel {
  if (sure === may) return 'exact'
  return may === '1' ? 'none' : 'superset'
}

export function allOf(list: readonly Bounds[]): Bounds {
  return {
    sure: conjunction(list.map(({ sure }) => sure)),
    may: conjunction(list.map(({ may }) => may)),
  }
}

export function anyOf(list: readonly Bounds[]): Bounds {
  return {
    sure: disjunction(list.map(({ sure }) => sure)),
    may: disjunction(list.map(({ may }) => may)),
  }
}

/** The same, where it is open besides. */
export function withOpen({ sure, may }: Bounds, open: readonly string[]): Bounds {
  const isOpen = disjunction(open)
  return { sure: conjunction([sure, negation(isOpen)]), may: disjunction([may, isOpen]) }
}

/** Where only the body tells. */
export function openOf({ sure, may }: Bounds): string {
  return sure === may ? '0' : conjunction([may, negation(sure)])
}

/** Where a condition of two values does not hold. */
export function noneOf({ sure, may }: Bounds): Bounds {
  return { sure: negation(may), may: negation(sure) }
}

export function conjunction(list: readonly string[]): string {
  if (list.includes('0')) return '0'
  const rest = [...new Set(list)].filter((sql) => sql !== '1')
  if (rest.length <= 1) return rest[0] ?? '1'
  return `(${rest.join(' AND ')})`
}

export function disjunction(list: readonly string[]): string {
  if (list.includes('1')) return '1'
  const rest = [...new Set(list)].filter((sql) => sql !== '0')
  if (rest.length <= 1) return rest[0] ?? '0'
  return `(${rest.join(' OR ')})`
}

export function negation(sql: string): string {
  if (sql === '1') return '0'
  if (sql === '0') return '1'
  return `(NOT ${sql})`
}

/**
 * The SQL of the first branch whose condition holds; `NULL` where it is known that none does. Nodes are asked for no branch that
 * is never taken: they fail at orders by such.
 */
export function choice(
  branches: readonly { readonly where: string; readonly sql: string }[],
  otherwise = 'NULL',
): string {
  const sure = branches.findIndex(({ where }) => where === '1')
  const last = sure < 0 ? otherwise : branches[sure]!.sql
  const before = branches.slice(0, sure < 0 ? undefined : sure).filter(({ where }) => where !== '0')
  if (before.every(({ sql }) => sql === last)) return last
  return `multiIf(${before.map(({ where, sql }) => `${where}, ${sql}`).join(', ')}, ${last})`
}

/** Of SQL that may be null, whether it is true. */
export function isTrue(sql: string): string {
  return `ifNull(${sql}, 0)`
}
