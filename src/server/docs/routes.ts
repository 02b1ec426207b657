/** `/docs`: the pages of the documentation, and a search over them. They hold no data, so they ask for no key. */
import { AssayError } from '../../error.ts'
import { escapeHtml } from '../escape-html.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import type { Reply } from '../reply.ts'
import { pageHeaders, startPath } from '../route/page.ts'
import type { Route } from '../route.ts'
import { readDocuments } from './document-files.ts'
import { documentAddress, documentHtml, type ShownDocument } from './document-shell.ts'
import { type FoundSection, findSections } from './find-sections.ts'

export function docsRoutes(publicUrl: PublicUrl): Route[] {
  const route = (
    path: string,
    show: (parameters: readonly string[], query: URLSearchParams) => ShownDocument,
  ): Route => ({
    method: 'GET',
    path,
    access: 'open',
    headers: addressHeaders,
    handle: ({ parameters, query, headers }) =>
      documentReply(startPath(publicUrl, headers), show(parameters, query)),
  })
  return [
    route('/docs', (_, query) => {
      const searched = query.get('q')
      return searched === null ? pageNamed('') : foundPage(searched)
    }),
    route('/docs/:page', ([name]) => pageNamed(name!)),
  ]
}

/** @param base as `documentHtml` takes it */
export function documentReply(base: string, shown: ShownDocument): Reply {
  return {
    contentType: 'text/html; charset=utf-8',
    headers: pageHeaders,
    body: documentHtml(base, shown),
  }
}

function pageNamed(name: string): ShownDocument {
  const page = readDocuments().pages.find((each) => each.name === name)
  if (!page) {
    throw new AssayError('ROUTE_NOT_FOUND', `The documentation has no page ${name.slice(0, 200)}`, {
      hint: 'see /docs for the pages that there are',
    })
  }
  return { name, title: page.title, body: page.html }
}

function foundPage(query: string): ShownDocument {
  const searched = query.trim().slice(0, 200)
  const found = findSections(readDocuments(), searched)
  const shown = escapeHtml(searched)
  const head = searched === '' ? 'Search' : `Search for “${shown}”`
  const rest =
    found.length > 0
      ? `<ol class="found">${found.map(foundEntry).join('\n')}</ol>`
      : `<p class="hint">${searched === '' ? 'Type what to look for.' : 'No page has all these words.'}</p>`
  return { name: undefined, title: 'Search', body: `<h1>${head}</h1>${rest}`, searched }
}

function foundEntry({ page, section, excerpt, places }: FoundSection): string {
  const where = section.anchor === '' ? page.title : `${page.title}: ${section.title}`
  const address = documentAddress(page.name, section.anchor)
  return `<li><a href="${address}">${escapeHtml(where)}</a><p>${marked(excerpt, places)}</p></li>`
}

function marked(text: string, places: FoundSection['places']): string {
  let end = 0
  const parts = places.map(([start, stop]) => {
    const before = escapeHtml(text.slice(end, start))
    end = stop
    return `${before}<mark>${escapeHtml(text.slice(start, stop))}</mark>`
  })
  return parts.join('') + escapeHtml(text.slice(end))
}
