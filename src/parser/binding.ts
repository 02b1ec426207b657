/** How tightly each kind of expression binds; the parser and the printer go by the same order. */
export const binding = {
  conditional: 0,
  or: 1,
  and: 2,
  not: 3,
  comparison: 4,
  additive: 5,
  multiplicative: 6,
  sign: 7,
} as const
