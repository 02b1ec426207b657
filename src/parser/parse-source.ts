import { AssayError } from '../error.ts'
import type { TableSource, TextClause } from './ast.ts'
import { sqlReservedWords } from './sql-keyword.ts'
import { shorten, type Token } from './token.ts'
import type { TokenStream } from './token-stream.ts'

/**
 * Reads `table('id', …)`; without ids it is that of the request's project. The shape is a last argument, `shape => 'traces'`, or, with
 * `shapeMayFollow`, a word after the parenthesis.
 */
export function readTable(tokens: TokenStream, shapeMayFollow: boolean): TableSource {
  const table = tokens.current
  // Words of SQL are no tables here either, so that every query can be written in it.
  if (table.kind !== 'word' || sqlReservedWords.has(table.keyword)) {
    throw tokens.unexpected("a source such as experiment('id')")
  }
  tokens.advance()
  const tableSpan = tokens.spanFrom(table.start)
  tokens.expect('(', `and ids in quotes after "${shorten(table.text)}"`)
  const ids: TextClause[] = []
  let shape: Token | undefined
  do {
    if (tokens.is(')')) break
    if (tokens.peek(1).keyword === '=>') shape = readShape(tokens, shape)
    else if (shape === undefined || ids.length > 0) ids.push(readId(tokens))
    else throw tokens.unexpected('")"', namedComeLast)
  } while (tokens.accept(','))
  tokens.expect(')', 'to close the list of ids')
  if (shapeMayFollow) shape = readShapeWord(tokens, shape)
  return {
    kind: 'table',
    table: table.keyword,
    tableSpan,
    ids,
    shape: shape?.text.toLowerCase(),
    shapeSpan: shape && { start: shape.start, end: shape.end },
    span: tokens.spanFrom(table.start),
  }
}

const namedComeLast = "named arguments come after the ids: experiment('id', shape => 'spans')"

function readId(tokens: TokenStream): TextClause {
  const { kind, text, start } = tokens.current
  if (kind !== 'string' && kind !== 'quoted') {
    const named = tokens.peek(1).keyword === '=>'
    throw tokens.unexpected('an id in quotes', named ? namedComeLast : undefined)
  }
  tokens.advance()
  return { value: text, span: tokens.spanFrom(start) }
}

function readShape(tokens: TokenStream, earlier: Token | undefined): Token {
  if (!tokens.is('shape')) {
    throw tokens.unexpected('the argument "shape"', 'no other argument has a name')
  }
  tokens.advance()
  tokens.advance()
  const token = tokens.current
  if (token.kind === 'number' || token.kind === 'symbol' || token.kind === 'end') {
    throw tokens.unexpected('a shape in quotes')
  }
  refuseSecondShape(token, earlier)
  return tokens.advance()
}

function readShapeWord(tokens: TokenStream, earlier: Token | undefined): Token | undefined {
  tokens.mayTake('shape')
  const token = tokens.current
  if (token.kind !== 'word' || tokens.reserved.has(token.keyword)) return earlier
  if (tokens.atClauseHeader()) return earlier
  refuseSecondShape(token, earlier)
  return tokens.advance()
}

function refuseSecondShape(token: Token, earlier: Token | undefined): void {
  if (earlier === undefined) return
  throw new AssayError('PARSE_UNEXPECTED_TOKEN', 'the shape is given twice', {
    span: { start: token.start, end: token.end },
    hint: 'keep one of them',
  })
}
