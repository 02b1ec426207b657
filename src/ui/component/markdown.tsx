/**
 * Markdown as elements of the page. HTML in it is shown as text, and nothing is loaded from other servers: pictures
 * are those that the text has in it. Loaded when a text of it is first shown.
 */
import { lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { Marked, type Sought } from './marked.tsx'
import { Elsewhere, Media } from './media.tsx'
import { mediaOfText } from './media-forms.ts'

export function Markdown({
  text,
  sought,
}: {
  readonly text: string
  readonly sought: readonly Sought[]
}) {
  return (
    <div class="markdown" dir="auto">
      {blocks(lexer(text, { gfm: true, breaks: true }), sought)}
    </div>
  )
}

type Children = readonly ComponentChildren[]

function blocks(tokens: readonly Token[], sought: readonly Sought[]): Children {
  return tokens.map((token, i) => <Block key={i} token={token} sought={sought} />)
}

interface TokenProps {
  readonly token: Token
  readonly sought: readonly Sought[]
}

function inner(token: Token, sought: readonly Sought[]): ComponentChildren {
  const { tokens } = token as Tokens.Generic
  return tokens ? blocks(tokens, sought) : <Marked text={textIn(token)} sought={sought} />
}

function Block({ token, sought }: TokenProps) {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      // The page has headings of its own.
      return <p class={`heading h${token.depth}`}>{inner(token, sought)}</p>
    case 'paragraph':
      return <p>{inner(token, sought)}</p>
    case 'blockquote':
      return <blockquote>{inner(token, sought)}</blockquote>
    case 'list':
      return <List list={token as Tokens.List} sought={sought} />
    case 'code':
      return <Code code={token as Tokens.Code} sought={sought} />
    case 'table':
      return <DataTable table={token as Tokens.Table} sought={sought} />
    case 'hr':
      return <hr />
    default:
      return <Inline token={token} sought={sought} />
  }
}

function Inline({ token, sought }: TokenProps) {
  switch (token.type) {
    case 'strong':
      return <strong>{inner(token, sought)}</strong>
    case 'em':
      return <em>{inner(token, sought)}</em>
    case 'del':
      return <del>{inner(token, sought)}</del>
    case 'br':
      return <br />
    case 'codespan':
      return (
        <code>
          <Marked text={token.text} sought={sought} />
        </code>
      )
    case 'link':
      return <Elsewhere address={token.href}>{inner(token, sought)}</Elsewhere>
    case 'image':
      return <Picture image={token as Tokens.Image} />
    case 'text':
    case 'escape':
      return inner(token, sought)
    default:
      // HTML, and whatever else there may be, as it is written.
      return <Marked text={token.raw} sought={sought} />
  }
}

function Picture({ image: { href, text } }: { readonly image: Tokens.Image }) {
  const part = mediaOfText(href, 'image/*')
  if (part?.from.kind === 'data') return <Media part={{ ...part, name: text }} />
  return (
    <>
      <span class="kind">image</span> <Elsewhere address={href}>{text || href}</Elsewhere>
    </>
  )
}

function List({
  list,
  sought,
}: {
  readonly list: Tokens.List
  readonly sought: readonly Sought[]
}) {
  const items = list.items.map((item, i) => (
    <li key={i} class={item.task ? 'task' : undefined}>
      {item.task && <span aria-hidden="true">{item.checked ? '☑ ' : '☐ '}</span>}
      {blocks(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        sought,
      )}
    </li>
  ))
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Code({
  code,
  sought,
}: {
  readonly code: Tokens.Code
  readonly sought: readonly Sought[]
}) {
  return (
    <div class="code-block">
      <div class="code-head">
        <span class="hint">{code.lang}</span>
        <CopyButton text={code.text} />
      </div>
      <pre>
        <code>
          <Marked text={code.text} sought={sought} />
        </code>
      </pre>
    </div>
  )
}

function DataTable({
  table,
  sought,
}: {
  readonly table: Tokens.Table
  readonly sought: readonly Sought[]
}) {
  const alignment = (i: number) => (table.align[i] === 'right' ? 'number' : undefined)
  return (
    <div class="data-table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, i) => (
              <th key={i} scope="col" class={alignment(i)}>
                {blocks(cell.tokens, sought)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, place) => (
            <tr key={place}>
              {row.map((cell, i) => (
                <td key={i} class={alignment(i)}>
                  {blocks(cell.tokens, sought)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function textIn(token: Token): string {
  return 'text' in token && typeof token.text === 'string' ? token.text : token.raw
}
