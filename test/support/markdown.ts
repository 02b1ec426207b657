/** The pages of the repository, and what stands in them. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked, type Token, type Tokens } from 'marked'
import { repositoryFiles } from './repository-files.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A fenced or indented block of code. */
export interface CodeBlock {
  /** What stands behind the fence: `sh`. */
  readonly language: string
  /** The word behind it, which tests go by: `run`. */
  readonly mark: string
  readonly text: string
  /** Of its first line. */
  readonly line: number
}

export class MarkdownPage {
  /** In the repository: `src/docs/http.md`. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly CodeBlock[]
  /** Texts between backticks. */
  readonly spans: readonly string[]
  readonly links: readonly string[]
  /** Names by which links lead to headings. */
  readonly anchors: ReadonlySet<string>

  constructor(path: string, text = readFileSync(root + path, 'utf8')) {
    this.path = path
    this.text = text
    const blocks: CodeBlock[] = []
    const spans: string[] = []
    const links: string[] = []
    const headings: string[] = []
    const marked = new Marked()
    marked.walkTokens(marked.lexer(text), (token: Token) => {
      if (token.type === 'code') blocks.push(this.#block(token as Tokens.Code))
      else if (token.type === 'codespan') spans.push((token as Tokens.Codespan).text)
      else if (token.type === 'link' || token.type === 'image') links.push(token.href as string)
      else if (token.type === 'heading') headings.push((token as Tokens.Heading).text)
    })
    this.blocks = blocks
    this.spans = spans
    this.links = links
    this.anchors = new Set(headings.map(anchorOf))
  }

  /** A path that stands in the page, from the top of the repository. */
  resolve(path: string): string {
    return posix.join(posix.dirname(this.path), path)
  }

  #block({ lang = '', text, raw }: Tokens.Code): CodeBlock {
    const [language = '', mark = ''] = lang.split(' ')
    const before = this.text.slice(0, Math.max(0, this.text.indexOf(raw)))
    return { language, mark, text, line: before.split('\n').length + 1 }
  }
}

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}

export const markdownPages: readonly MarkdownPage[] = repositoryFiles
  .filter((path) => path.endsWith('.md'))
  .map((path) => new MarkdownPage(path))
