/**
 * The shape of a query that is an object of JSON, as `cut-literals.ts` has those of texts: all of the object but the
 * constants on the right of comparisons. It is told without reading the object as a query.
 */
import { ExactNumber } from '../json/exact-number.ts'
import { JsonQuery } from '../parser/given-query.ts'
import { mapTree } from '../parser/map-tree.ts'
import {
  type CutLiteral,
  type CutQuery,
  literalOfText,
  marks,
  mostLiterals,
  placeOf,
} from './cut-literals.ts'

/** Longer objects are mostly lists of values. */
const longestShape = 128 * 1024

/** Deeper ones are refused. */
const deepest = 250

const comparisons: ReadonlySet<unknown> = new Set(['eq', 'is', 'ne', 'lt', 'le', 'gt', 'ge'])

type Members = Readonly<Record<string, unknown>>

/** Undefined of an object that is too large. */
export function cutObject({ value }: JsonQuery): CutQuery | undefined {
  const cut = new ObjectCut()
  if (!cut.add(value, 0) || cut.literals.length > mostLiterals) return undefined
  const { shape, literals, places } = cut
  return {
    shape,
    literals,
    with: (others) =>
      new JsonQuery(
        mapTree(value, (node) => {
          const place = places.get(node)
          if (place !== undefined) return { op: 'literal', value: others[place]!.value }
          return node instanceof ExactNumber ? node : undefined
        }),
      ),
  }
}

class ObjectCut {
  /** Begins as no text does. Texts have their lengths before them, so that two objects are never one. */
  shape = '\0'
  readonly literals: CutLiteral[] = []
  /** Of nodes that are literals, which of them. */
  readonly places = new Map<object, number>()

  /** False where it comes to be too large. */
  add(value: unknown, depth: number): boolean {
    if (typeof value === 'string') {
      this.shape += `"${value.length}:${value}`
    } else if (typeof value !== 'object' || value === null) {
      this.shape += `${value};`
    } else if (value instanceof ExactNumber) {
      this.shape += `=${value.text};`
    } else if (depth > deepest || this.shape.length > longestShape) {
      return false
    } else if (Array.isArray(value)) {
      this.shape += '['
      for (const item of value) if (!this.add(item, depth + 1)) return false
      this.shape += ']'
    } else {
      return this.#addMembers(value as Members, depth)
    }
    return true
  }

  #addMembers(members: Members, depth: number): boolean {
    this.shape += '{'
    const compares = comparisons.has(members.op)
    for (const name in members) {
      this.add(name, depth)
      const member = members[name]
      const isCut = compares && name === 'right' && this.#cut(member)
      if (!isCut && !this.add(member, depth + 1)) return false
    }
    this.shape += '}'
    return true
  }

  #cut(node: unknown): boolean {
    const literal = literalOf(node)
    if (!literal) return false
    const place = placeOf(literal, this.literals)
    this.places.set(node as object, place)
    this.shape += marks[literal.kind] + place
    return true
  }
}

function literalOf(node: unknown): CutLiteral | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  const { op, value, ...others } = node as Members
  if (op !== 'literal' || Object.keys(others).length > 0) return undefined
  if (typeof value === 'string') return literalOfText(value)
  // Larger ones may be integers, which have all their digits.
  const isDouble = typeof value === 'number' && value >= 0 && value <= 2 ** 53
  return isDouble ? { kind: 'number', value } : undefined
}
