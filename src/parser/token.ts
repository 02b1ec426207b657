/**
 * `word` is an unquoted name or keyword, `string` is in single quotes, `quoted` in double quotes (a
 * string, or a part of a path when a path goes on beside it), `name` in backticks (always a name).
 */
export type TokenKind = 'word' | 'number' | 'string' | 'quoted' | 'name' | 'symbol' | 'end'

export interface Token {
  readonly kind: TokenKind
  /** As written; for the quoted kinds what stands between the quotes, decoded. */
  readonly text: string
  /** The text of a symbol, that of a word in lower case, and empty for all other kinds. */
  readonly keyword: string
  readonly start: number
  readonly end: number
  /** Whether only blanks and comments stand before it on its line. */
  readonly startsLine: boolean
}

/** Names a token in an error message. */
export function describeToken(token: Token): string {
  switch (token.kind) {
    case 'word':
    case 'symbol':
      return JSON.stringify(shorten(token.text))
    case 'number':
      return `the number ${shorten(token.text)}`
    case 'string':
    case 'quoted':
      return `the string ${JSON.stringify(shorten(token.text))}`
    case 'name':
      return `the name ${JSON.stringify(shorten(token.text))}`
    case 'end':
      return 'the end of the text'
  }
}

const shownLength = 40

/** Cuts what a user wrote to a length that suits a message. */
export function shorten(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`
}
