import { AssayError } from '../error.ts'
import type { Expression } from './ast.ts'
import { childrenOf } from './children.ts'

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
