/** The language for CodeMirror: its grammar, its colors, and comments. */
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language'
import { tags } from '@lezer/highlight'
import { type LineState, readToken, startState, type TokenRole } from './tokens.ts'

const tagsOfRoles = {
  blank: null,
  comment: tags.comment,
  clause: tags.heading,
  keyword: tags.keyword,
  constant: tags.atom,
  function: tags.function(tags.variableName),
  field: tags.variableName,
  number: tags.number,
  string: tags.string,
  name: tags.propertyName,
  operator: tags.operator,
  bracket: tags.bracket,
  invalid: tags.invalid,
} as const satisfies Record<TokenRole, unknown>

const { blank: _, ...tokenTable } = tagsOfRoles

export const queryLanguage = StreamLanguage.define<LineState>({
  name: 'btql',
  startState,
  copyState: (state) => ({ ...state }),
  token: (stream, state) => {
    const { role, end } = readToken(stream.string, stream.pos, state)
    stream.pos = end
    return role === 'blank' ? null : role
  },
  tokenTable,
  mergeTokens: false,
  languageData: {
    commentTokens: { line: '--' },
    closeBrackets: { brackets: ['(', '[', '{', "'", '"', '`'] },
  },
})

export const queryColors = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
    { tag: tags.heading, color: 'var(--accent)', fontWeight: '600' },
    { tag: tags.keyword, color: 'var(--code-keyword)' },
    { tag: tags.atom, color: 'var(--code-number)' },
    { tag: tags.number, color: 'var(--code-number)' },
    { tag: tags.string, color: 'var(--code-string)' },
    { tag: tags.propertyName, color: 'var(--code-name)' },
    { tag: tags.function(tags.variableName), color: 'var(--code-function)' },
    { tag: tags.operator, color: 'var(--quiet)' },
    { tag: tags.bracket, color: 'var(--quiet)' },
    { tag: tags.invalid, color: 'var(--bad)', textDecoration: 'underline wavy' },
  ]),
)
