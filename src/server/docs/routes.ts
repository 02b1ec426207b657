/** `/docs`: the pages of the documentation, and a search over them. They hold no data, so they ask for no key. */
import { AssayError } from '../../error.ts'
import { escapeHtml } from '../escape-html.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import type { Reply } from '../reply.ts'
import { pageHeaders, startPath } from '../route/page.ts'
import type { Route, RouteRequest } from '../route.ts'
import { readDocuments } from './document-files.ts'
import { documentAddress, documentHtml, type ShownDocument } from './document-shell.ts'
import { type FoundSection, findSections } from './find-sections.ts'

export function docsRoutes(publicUrl: PublicUrl): Route[] {
  const headers = [...addressHeaders, 'accept']
  const route = (path: string, show: (request: RouteRequest) => ShownDocument): Route => ({
    method: 'GET',
    path,
    access: 'open',
    headers,
    handle: (request) => {
      const shown = show(request)
      return documentReply(startPath(publicUrl, request.headers), shown)
    },
  })
  return [
    route('/docs', ({ query }) => {
      const searched = query.get('q')
      return searched === null ? pageNamed('')! : foundPage(searched)
    }),
    route('/docs/:page', ({ parameters, headers }) => {
      const name = parameters[0]!
      return pageNamed(name) ?? missingPage(name, headers)
    }),
  ]
}

/** @param base as `documentHtml` takes it */
export function documentReply(base: string, shown: ShownDocument): Reply {
  return {
    ...(shown.status !== undefined && { status: shown.status }),
    contentType: 'text/html; charset=utf-8',
    headers: pageHeaders,
    body: documentHtml(base, shown),
  }
}

function pageNamed(name: string): ShownDocument | undefined {
  const page = readDocuments().pages.find((each) => each.name === name)
  return page && { name, title: page.title, body: page.html }
}

/** Browsers get a page with the menu; programs get what they get everywhere. */
function missingPage(name: string, headers: RouteRequest['headers']): ShownDocument {
  const message = `The documentation has no page ${name.slice(0, 200)}`
  if (!headers.get('accept')?.includes('text/html')) {
    const hint = 'see /docs for the pages that there are'
    throw new AssayError('ROUTE_NOT_FOUND', message, { hint })
  }
  const title = 'There is nothing here'
  const body = `<h1>${title}</h1><p>${escapeHtml(message)}.</p>`
  return { name: undefined, title, body, status: 404 }
}

function foundPage(query: string): ShownDocument {
  const searched = query.trim().slice(0, 200)
  if (searched === '') {
    const body = '<h1>Search</h1><p class="hint">Type what to look for.</p>'
    return { name: undefined, title: 'Search', body }
  }
  const { sections, hasAll } = findSections(readDocuments(), searched)
  const body = [
    `<h1>Search for “${escapeHtml(searched)}”</h1>`,
    hasAll ? '' : `<p class="hint">${lackOf(sections)}</p>`,
    `<ol class="found">${sections.map(foundEntry).join('\n')}</ol>`,
  ]
  return { name: undefined, title: 'Search', body: body.join('\n'), searched }
}

function lackOf(sections: readonly FoundSection[]): string {
  return sections.length === 0
    ? 'No page has any of these words.'
    : 'No page has all these words. These have some of them:'
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
