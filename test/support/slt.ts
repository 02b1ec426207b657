/**
 * Golden files: queries of our language and the answers that are right, in a dialect of sqllogictest.
 *
 * A file is a list of blocks with a blank line between them. Lines that begin with `#` above a block
 * belong to it; the first block of a file is nothing but such lines and says what the file is about.
 *
 *     control tz_offset 480             settings for what follows; see `slt-runner.ts`
 *     flush, compact, reopen            storage events; several commands may stand in one block
 *     insert experiment e1              then one JSON object per line, written in one request
 *     query OPTION…                     then a query, `----`, a header and the rows
 *     request                           then a body of POST /btql, `----`, the same
 *     explain STAGE…                    then a query, `----`, the stages' text
 *     error                             then a query, `----`, the message that it gets
 *
 * `query json` shows rows as they came. `only` names the columns that are shown. After `as P`,
 * `<slt:cursor P>` stands in queries for the answer's cursor. An `insert` may have `----` and an
 * error too, if it is to be refused.
 */

export type BlockKind =
  | 'comment'
  | 'commands'
  | 'insert'
  | 'query'
  | 'request'
  | 'explain'
  | 'error'

export interface Block {
  readonly kind: BlockKind
  /** Line of the block's first line that is no comment, from 1. */
  readonly line: number
  readonly comments: readonly string[]
  /** `query rowsort`; of commands all their lines. */
  readonly header: readonly string[]
  /** The lines between the header and `----`. */
  readonly body: readonly string[]
  /** The lines after `----`; undefined without one. */
  readonly expected: readonly string[] | undefined
}

const separator = '----'
const commands = new Set(['control', 'flush', 'compact', 'reopen'])
const kinds = new Set<string>(['insert', 'query', 'request', 'explain', 'error'])

export function parseSlt(text: string): Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  let start = 1
  const end = (next: number): void => {
    if (lines.length > 0) blocks.push(parseBlock(lines, start))
    lines = []
    start = next
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') end(index + 2)
    else lines.push(line)
  }
  end(0)
  return blocks
}

export function printSlt(blocks: readonly Block[]): string {
  return `${blocks.map((block) => blockLines(block).join('\n')).join('\n\n')}\n`
}

/** The words after the block's kind. */
export function argumentsOf(block: Block): string[] {
  return (block.header[0] ?? '').split(/\s+/).slice(1)
}

/** The word after a word of the header, `only` or `as`. */
export function optionOf(block: Block, name: string): string | undefined {
  const words = argumentsOf(block)
  const index = words.indexOf(name)
  return index < 0 ? undefined : words[index + 1]
}

/**
 * Whether a line is as expected, where `<slt:ignore>` stands for whatever differs from one run to
 * the next.
 */
export function lineMatches(actual: string, expected: string): boolean {
  const [first = '', ...rest] = expected.split('<slt:ignore>')
  if (rest.length === 0) return actual === expected
  if (!actual.startsWith(first)) return false
  let position = first.length
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1
    const found = isLast ? actual.length - part.length : actual.indexOf(part, position)
    if (found < position || !actual.startsWith(part, found)) return false
    position = found + part.length
  }
  return true
}

export function linesMatch(actual: readonly string[], expected: readonly string[]): boolean {
  return (
    actual.length === expected.length &&
    actual.every((line, index) => lineMatches(line, expected[index]!))
  )
}

function parseBlock(lines: readonly string[], start: number): Block {
  const commentCount = lines.findIndex((line) => !line.startsWith('#'))
  if (commentCount < 0) {
    return {
      kind: 'comment',
      line: start,
      comments: lines,
      header: [],
      body: [],
      expected: undefined,
    }
  }
  const comments = lines.slice(0, commentCount)
  const rest = lines.slice(commentCount)
  const line = start + commentCount
  const word = rest[0]!.split(/\s/)[0]!
  if (commands.has(word)) {
    return { kind: 'commands', line, comments, header: rest, body: [], expected: undefined }
  }
  if (!kinds.has(word)) throw new Error(`line ${line}: there is no record of the kind "${word}"`)
  const split = rest.indexOf(separator)
  return {
    kind: word as BlockKind,
    line,
    comments,
    header: rest.slice(0, 1),
    body: rest.slice(1, split < 0 ? undefined : split),
    expected: split < 0 ? undefined : rest.slice(split + 1),
  }
}

function blockLines({ comments, header, body, expected }: Block): string[] {
  const answer = expected === undefined ? [] : [separator, ...expected]
  return [...comments, ...header, ...body, ...answer]
}
