/**
 * Makes HTML of the pages in `src/docs`, and the texts of their sections, which a search goes through.
 * `README.md` is the start: the pages that it links to, in its order, are the menu.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked } from 'marked'

export const documentFolder = fileURLToPath(new URL('../docs/', import.meta.url))

/**
 * All pages, the start first.
 *
 * @param picture gives the address and the size of a picture of the folder, by its name
 */
export function documentPages(picture) {
  const names = ['README', ...linkedFrom('README')]
  return [...new Set(names)].map((name) => {
    const text = readFileSync(join(documentFolder, `${name}.md`), 'utf8')
    return renderPage(addressOf(name), text, picture)
  })
}

/** Characters of what a cell has besides sentences. */
const mostOfName = 32

/** One page: its title, its HTML, the headings of its first level, and its sections as plain texts. */
export function renderPage(name, markdown, picture = (url) => ({ url, width: 0, height: 0 })) {
  const anchors = new Anchors()
  const sections = []
  const headings = []
  const pageAddress = `docs/${name}`.replace(/\/$/, '')
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type === 'heading') token.anchor = anchors.of(plainText(token.tokens))
    },
    renderer: {
      heading({ tokens, depth, anchor }) {
        const inner = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1>${inner}</h1>\n`
        const link = `<a class="anchor" href="${pageAddress}#${anchor}" aria-label="Link to this section">#</a>`
        return `<h${depth} id="${anchor}">${inner} ${link}</h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escapeText(linkTarget(href, pageAddress))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text }) {
        const { url, width, height } = picture(href)
        // Its room is there before it, so that nothing moves when it comes.
        return `<img src="${escapeText(url)}" alt="${escapeText(text)}" width="${width}" height="${height}">`
      },
      table(token) {
        const inner = ({ tokens }) => this.parser.parseInline(tokens)
        const heads = token.header.map((cell) => `<th>${inner(cell)}</th>`).join('')
        const hasHead = token.header.some(({ text }) => text !== '')
        const head = hasHead ? `<thead><tr>${heads}</tr></thead>` : ''
        // Sentences need more room than names, however narrow the screen is.
        const classes = token.header.map((_, column) => {
          const isLong = token.rows.some((row) => plainText(row[column].tokens).length > mostOfName)
          return isLong ? ' class="long"' : ''
        })
        const rows = token.rows
          .map((row) => row.map((cell, column) => `<td${classes[column]}>${inner(cell)}</td>`))
          .map((cells) => `<tr>${cells.join('')}</tr>`)
          .join('\n')
        // A table that is too wide is scrolled by itself, by keys too.
        return `<div class="table" tabindex="0"><table>${head}<tbody>${rows}</tbody></table></div>\n`
      },
      code({ text, lang }) {
        const language = lang?.split(' ')[0] ?? ''
        return `<pre tabindex="0"${language && ` class="${escapeText(language)}"`}><code>${escapeText(text)}</code></pre>\n`
      },
      // Comments, which are for those who write the pages.
      html: () => '',
    },
  })
  const tokens = marked.lexer(markdown)
  marked.walkTokens(tokens, marked.defaults.walkTokens)
  const html = marked.parser(tokens)
  for (const token of tokens) {
    if (token.type === 'heading') {
      const title = plainText(token.tokens)
      if (token.depth === 2) headings.push({ title, anchor: token.anchor })
      sections.push({ title, anchor: token.depth === 1 ? '' : token.anchor, text: '' })
    } else if (sections.length > 0) {
      const section = sections.at(-1)
      section.text = `${section.text} ${plainText([token])}`.replace(/\s+/g, ' ').trim()
    }
  }
  if (sections[0]?.anchor !== '') throw new Error(`src/docs: ${name || 'README'} has no title`)
  return { name, title: sections[0].title, headings, html, sections }
}

/** Names of the pages that a page links to, in their order. */
function linkedFrom(name) {
  const text = readFileSync(join(documentFolder, `${name}.md`), 'utf8')
  return Array.from(text.matchAll(/\]\(([\w-]+)\.md[)#]/g), ([, linked]) => linked)
}

/** The start has no name in addresses. */
function addressOf(name) {
  return name === 'README' ? '' : name
}

/** Links between pages work in the repository as they are written; all others are left as they are. */
function linkTarget(href, pageAddress) {
  if (href.startsWith('#')) return pageAddress + href
  const [, name, anchor] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  if (name === undefined) return href
  return `docs/${addressOf(name)}`.replace(/\/$/, '') + (anchor ?? '')
}

/** What is read of tokens, without signs of Markdown. */
function plainText(tokens) {
  return tokens.map(textOf).join('')
}

function textOf(token) {
  if (token.type === 'html') return ''
  if (token.type === 'table') {
    const rows = [token.header, ...token.rows]
    const textsOf = (row) => row.map(({ tokens }) => plainText(tokens)).filter(Boolean)
    return rows.map((row) => textsOf(row).join(' · ')).join('; ')
  }
  if (token.type === 'list') return token.items.map(({ tokens }) => plainText(tokens)).join(' ')
  if (token.tokens) return plainText(token.tokens)
  return token.type === 'space' || token.type === 'br' ? ' ' : (token.text ?? '')
}

/** The names that GitHub gives to headings, so that one link leads to both. */
class Anchors {
  #counts = new Map()

  of(heading) {
    const plain = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-')
    const count = this.#counts.get(plain) ?? 0
    this.#counts.set(plain, count + 1)
    return count === 0 ? plain : `${plain}-${count}`
  }
}

function escapeText(text) {
  const signs = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (sign) => signs[sign])
}
