import { AssayError } from '../error.ts'
import type { Expression } from './ast.ts'
import { childrenOf } from './children.ts'
import type { TokenStream } from './token-stream.ts'

/** How deep a tree may be, so that every stage after the parser may walk it by recursion. */
export const maximumTreeDepth = 500

/** Refuses a tree that is too deep. It walks without recursion: that depth is what it looks for. */
export function checkTreeDepth(root: Expression): void {
  let level: Expression[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maximumTreeDepth) {
      throw new AssayError(
        'PARSE_TOO_DEEP',
        `the expression is too deep: at most ${maximumTreeDepth} operators may follow on each other`,
        { span: root.span, hint: 'group parts of the chain with parentheses' },
      )
    }
    const next: Expression[] = []
    for (const expression of level) for (const child of childrenOf(expression)) next.push(child)
    level = next
  }
}

/** How many nodes may stand in the tree again because the text means its part more than once. */
const maximumRepeatedNodes = 100_000

/**
 * Counts the nodes of `expression`, which the tree holds `times` more than the text does. Without a
 * limit a text could name a tree that is exponentially larger than itself.
 */
export function countRepeated(tokens: TokenStream, expression: Expression, times: number): void {
  const pending = [expression]
  for (let node = pending.pop(); node !== undefined && times > 0; node = pending.pop()) {
    tokens.repeatedCount += times
    if (tokens.repeatedCount > maximumRepeatedNodes) {
      throw new AssayError('PARSE_TOO_DEEP', 'the expression means its parts too often', {
        span: expression.span,
        hint: 'a shorter operand of "case", or fewer branches, make it smaller',
      })
    }
    for (const child of childrenOf(node)) pending.push(child)
  }
}
