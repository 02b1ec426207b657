import { followingWords, reservedWords } from './keyword.ts'
import type { TokenStream } from './token-stream.ts'

/**
 * Whether the token at `distance` begins an operand, judged by itself and the token after it. A sign
 * does if it touches what follows it: `5 -3` and `5 - 3` differ in that.
 */
export function startsOperand(tokens: TokenStream, distance: number): boolean {
  const token = tokens.peek(distance)
  switch (token.kind) {
    case 'end':
      return false
    case 'word':
      if (token.startsLine && tokens.atClauseHeader(distance)) return false
      return !followingWords.has(token.keyword) && !tokens.reserved.has(token.keyword)
    case 'symbol':
      if (token.keyword === '-' || token.keyword === '+') {
        return tokens.peek(distance + 1).start === token.end
      }
      return token.keyword === '(' || token.keyword === '[' || token.keyword === '{'
    default:
      return true
  }
}

/** Whether a word such as `neg` is an operator here: a sign or `[` after it makes it a field. */
export function isPrefix(tokens: TokenStream): boolean {
  const next = tokens.peek(1)
  return startsOperand(tokens, 1) && (next.kind !== 'symbol' || next.keyword === '(')
}

/** Whether the word `distinct` is here and is not a field's name. */
export function isDistinct(tokens: TokenStream): boolean {
  if (!tokens.is('distinct')) return false
  const { keyword } = tokens.peek(1)
  if (keyword === 'not' || startsOperand(tokens, 1)) return true
  // Some functions have the name of an operator.
  const called = tokens.following.has(keyword) && !reservedWords.has(keyword)
  return called && tokens.peek(2).keyword === '('
}
