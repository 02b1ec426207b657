/** Paths of rules: `input[*].content`, `metadata.user.email`, `output.*`, `metadata."user name"`. */

export type MaskingStep =
  | { readonly kind: 'name'; readonly name: string }
  /** Of an array; without an index, any of them. */
  | { readonly kind: 'element'; readonly index: number | undefined }
  /** Any member, or any element. */
  | { readonly kind: 'any' }

const mostSteps = 100

const step =
  /(?:(?<dot>\.)?(?:(?<name>[\p{L}\p{N}_$@-]+)|"(?<quoted>(?:[^"\\]|\\.)*)"|`(?<ticked>[^`]*)`|(?<any>\*))|\[(?:(?<all>\*)|(?<index>\d{1,9})|(?<key>"(?:[^"\\]|\\.)*"|'[^']*'))\])/uy

/** The steps from the record to what the path names, or what is wrong with it. */
export function readMaskingPath(text: string): MaskingStep[] | { readonly fault: string } {
  const steps: MaskingStep[] = []
  step.lastIndex = 0
  while (step.lastIndex < text.length) {
    const at = step.lastIndex
    const found = step.exec(text)?.groups
    // Names follow a dot but for the first, brackets never do.
    const isName = found && (found.name ?? found.quoted ?? found.ticked ?? found.any) !== undefined
    if (!found || (isName && (found.dot === undefined) !== (at === 0))) {
      return { fault: `cannot be read at ${JSON.stringify(text.slice(at, at + 20))}` }
    }
    steps.push(stepOf(found))
    if (steps.length > mostSteps) return { fault: `has more than ${mostSteps} steps` }
  }
  return steps.length === 0 ? { fault: 'is empty' } : steps
}

function stepOf(found: Readonly<Record<string, string | undefined>>): MaskingStep {
  const { name, quoted, ticked, any, all, index, key } = found
  if (any !== undefined) return { kind: 'any' }
  if (all !== undefined) return { kind: 'element', index: undefined }
  if (index !== undefined) return { kind: 'element', index: Number(index) }
  if (key !== undefined) return { kind: 'name', name: unquoted(key.slice(1, -1)) }
  return { kind: 'name', name: name ?? ticked ?? unquoted(quoted ?? '') }
}

function unquoted(text: string): string {
  return text.replace(/\\(.)/gu, '$1')
}
