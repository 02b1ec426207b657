import { TokenStream } from './token-stream.ts'

/** Prints the tokens of a text one a line: `start..end kind text`, where strings stand decoded. */
export function printTokens(text: string): string {
  const tokens = new TokenStream(text)
  const lines: string[] = []
  while (tokens.current.kind !== 'end') {
    const { kind, text: written, start, end } = tokens.advance()
    const bare = kind === 'word' || kind === 'symbol' || kind === 'number'
    lines.push(`${start}..${end} ${kind} ${bare ? written : JSON.stringify(written)}`)
  }
  return lines.join('\n')
}
