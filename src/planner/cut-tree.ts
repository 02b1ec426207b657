/**
 * The shape of a syntax tree: its canonical text without the constants that fields are compared with. Whatever a query
 * is written in, and however, trees of one shape have one plan but for these constants (`plan-template.ts`).
 *
 * What is cut out is what `cut-literals.ts` cuts out of texts, and kinds are the same.
 */
import type { Expression, Query } from '../parser/ast.ts'
import { isSpan, mapTree } from '../parser/map-tree.ts'
import { printQuery } from '../parser/print-query.ts'
import {
  type CutLiteral,
  literalOfText,
  longestText,
  mostLiterals,
  placeOf,
} from './cut-literals.ts'

export interface CutTree {
  readonly tree: Query
  /** The same for trees that differ in nothing but their literals, kind by kind. */
  readonly shape: string
  /** Each once, in the order of the tree. */
  readonly literals: readonly CutLiteral[]
  /** The tree with others of the same kinds in their places. */
  with(others: readonly CutLiteral[]): Query
}

type Comparison = Extract<Expression, { kind: 'comparison' }>

/** @param isLong of what has many values that are not compared, mostly: nothing is cut out of it */
export function cutTree(tree: Query, isLong: boolean): CutTree {
  if (isLong) return wholeTree(tree)
  const places = new Map<object, number>()
  const literals: CutLiteral[] = []
  const marked = mapTree(tree, (node) => {
    if (isSpan(node)) return node
    if ('kind' in node && node.kind === 'comparison') {
      const operand = firstOf((node as Comparison).right)
      const literal = literalOf(operand)
      if (literal) places.set(operand, placeOf(literal, literals))
    }
    const place = places.get(node)
    // No other text stands where one that has this sign is always cut out.
    return place === undefined ? undefined : withValue(node, `\0${literals[place]!.kind}${place}`)
  })
  const shape = printQuery(marked)
  if (literals.length > mostLiterals || shape.length > longestText) return wholeTree(tree)
  return {
    tree,
    shape,
    literals,
    with: (others) =>
      mapTree(tree, (node) => {
        const place = places.get(node)
        return place === undefined ? undefined : withValue(node, others[place]!.value)
      }),
  }
}

function wholeTree(tree: Query): CutTree {
  return { tree, shape: printQuery(tree), literals: [], with: () => tree }
}

function withValue(literal: object, value: number | string): object {
  return { ...literal, value }
}

/** What stands first in the text of an operand. */
function firstOf(operand: Expression): Expression {
  if (operand.kind === 'arithmetic') return firstOf(operand.left)
  return operand.kind === 'access' ? firstOf(operand.operand) : operand
}

function literalOf(operand: Expression): CutLiteral | undefined {
  if (operand.kind !== 'literal') return undefined
  const { value } = operand
  if (typeof value === 'string') return literalOfText(value)
  const isUnsigned = typeof value === 'number' && (value > 0 || Object.is(value, 0))
  return isUnsigned ? { kind: 'number', value } : undefined
}
