/** What is around each page of the documentation: the menu, the search, and the style of the web page. */
import { escapeHtml } from '../escape-html.ts'
import { type DocumentPage, readDocuments } from './document-files.ts'

export interface ShownDocument {
  /** As addresses have it; undefined for what is in no menu. */
  readonly name: string | undefined
  readonly title: string
  /** HTML. */
  readonly body: string
  /** 200 when not given. */
  readonly status?: number
  /** Text of the search field. */
  readonly searched?: string
}

/** The name of the page that shows the API document. */
export const apiPage = 'api'

/**
 * @param base path of the service's start, as browsers have it, with a slash at its end: all addresses of pages are
 *   relative to it
 */
export function documentHtml(base: string, { name, title, body, searched }: ShownDocument): string {
  const { pages, script, style, icon } = readDocuments()
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="${escapeHtml(base)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Assay</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="assets/${style}">
<script type="module" src="assets/${script}"></script>
</head>
<body class="docs">
<nav aria-label="Documentation">
<a class="mark" href="app"><img src="${icon}" alt="" width="22" height="22">Assay</a>
<form action="docs" role="search"><input type="search" name="q" aria-label="Search the documentation" placeholder="Search" maxlength="200" value="${escapeHtml(searched ?? '')}"></form>
<ul>
${pages.map((page) => menuEntry(page, name)).join('\n')}
${menuEntry({ name: apiPage, title: 'API document', headings: [] }, name)}
</ul>
</nav>
<main id="content" tabindex="-1">
${body}
</main>
</body>
</html>
`
}

function menuEntry(
  { name, title, headings }: Pick<DocumentPage, 'name' | 'title' | 'headings'>,
  current: string | undefined,
): string {
  const address = documentAddress(name)
  const isCurrent = name === current
  const parts = headings.map(
    (heading) =>
      `<li><a href="${documentAddress(name, heading.anchor)}">${escapeHtml(heading.title)}</a></li>`,
  )
  const below = isCurrent && parts.length > 0 ? `<ul>${parts.join('')}</ul>` : ''
  const mark = isCurrent ? ' aria-current="page"' : ''
  return `<li><a href="${address}"${mark}>${escapeHtml(title)}</a>${below}</li>`
}

export function documentAddress(name: string, anchor = ''): string {
  const page = name === '' ? 'docs' : `docs/${name}`
  return escapeHtml(anchor === '' ? page : `${page}#${anchor}`)
}
