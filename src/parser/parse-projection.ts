import type { Expression, Projection, SortKey } from './ast.ts'
import { isDistinct } from './look-ahead.ts'
import { readExpression } from './parse-expression.ts'
import type { TokenStream } from './token-stream.ts'

/** Reads items with commas between them; one more comma may stand before the end of the clause. */
export function readList<Item>(tokens: TokenStream, readItem: () => Item): Item[] {
  const items: Item[] = []
  do {
    items.push(readItem())
    if (!tokens.accept(',')) break
    tokens.mayTake('operand')
  } while (!tokens.atClauseEnd())
  return items
}

/** Reads the `distinct` of a select list, if it is there and is not a field's name. */
export function acceptDistinct(tokens: TokenStream): boolean {
  if (!isDistinct(tokens) && !isDistinctStar(tokens)) return false
  tokens.advance()
  return true
}

/** `distinct *` is a star, and `distinct * 2` a field that is multiplied. */
function isDistinctStar(tokens: TokenStream): boolean {
  if (!tokens.is('distinct') || tokens.peek(1).keyword !== '*') return false
  const next = tokens.peek(2)
  if (next.kind === 'end' || next.kind === 'symbol') return ',|)'.includes(next.keyword)
  return (
    next.keyword === 'replace' ||
    next.keyword === 'from' ||
    (next.startsLine && tokens.atClauseHeader(2))
  )
}

/** Reads an item of `select`: a star, or an expression that may have a name. */
export function readSelected(tokens: TokenStream): Projection {
  if (!tokens.is('*')) return readProjection(tokens)
  const star = readStar(tokens)
  if (tokens.is('as')) {
    throw tokens.unexpected('"," or the next clause', '"*" is all fields and has no alias')
  }
  return { expression: star, alias: undefined, span: star.span }
}

/** Reads `*` and what may stand in place of some of its fields. */
function readStar(tokens: TokenStream): Expression {
  const { start } = tokens.advance()
  const replace: Projection[] = []
  if (tokens.is('replace')) {
    tokens.advance()
    tokens.expect('(', 'and "expression as field" after "replace"')
    tokens.enter()
    do {
      if (replace.length > 0 && tokens.is(')')) break
      replace.push(readReplacement(tokens))
    } while (tokens.accept(','))
    tokens.expect(')', 'to close "replace"')
    tokens.leave()
  }
  return { kind: 'star', replace, span: tokens.spanFrom(start) }
}

function readReplacement(tokens: TokenStream): Projection {
  const { start } = tokens.current
  const expression = readExpression(tokens)
  tokens.expect('as', 'and the field that gets the value')
  const alias = readName(tokens, 'a name after "as"')
  return { expression, alias, span: tokens.spanFrom(start) }
}

/** Reads an expression that may have a name: `expr as name`. */
export function readProjection(tokens: TokenStream): Projection {
  const { start } = tokens.current
  if (tokens.is('*')) throw tokens.unexpected('a value', 'only "select" takes "*"')
  const expression = readExpression(tokens)
  const alias = tokens.accept('as') ? readName(tokens, 'a name after "as"') : undefined
  return { expression, alias, span: tokens.spanFrom(start) }
}

/** Reads `expr as name`, where the name is needed. */
export function readNamed(tokens: TokenStream): Projection {
  const projection = readProjection(tokens)
  if (projection.alias !== undefined) return projection
  throw tokens.unexpected('"as" and a name')
}

/** Reads a new name, plain or in quotes of any kind; `expected` says what it is for. */
export function readName(tokens: TokenStream, expected: string): string {
  const { kind, text } = tokens.current
  if (kind === 'number' || kind === 'symbol' || kind === 'end' || tokens.atClauseHeader()) {
    throw tokens.unexpected(expected)
  }
  tokens.advance()
  return text
}

export function readSortKey(tokens: TokenStream): SortKey {
  const { start } = tokens.current
  const expression = readExpression(tokens)
  const direction = tokens.accept('desc') ? 'desc' : 'asc'
  if (direction === 'asc') tokens.accept('asc')
  return { expression, direction, span: tokens.spanFrom(start) }
}
