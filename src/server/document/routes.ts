import { createHash } from 'node:crypto'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route } from '../route.ts'
import { type ApiDocument, apiDocument } from './api-document.ts'
import { viewerPage, viewerStyle } from './viewer-page.ts'

/** `/openapi.json` and `/docs`, of the routes given. Both are made when they are first asked for. */
export function documentRoutes(routes: readonly Route[], publicUrl: PublicUrl): Route[] {
  let document: ApiDocument | undefined
  let page: Reply | undefined
  const known = () => {
    document ??= apiDocument(routes)
    return document
  }
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      access: 'open',
      headers: addressHeaders,
      handle: ({ headers }) => {
        const { pathname } = new URL(publicUrl(headers))
        return jsonReply({ ...known(), servers: [{ url: pathname }] })
      },
    },
    {
      method: 'GET',
      path: '/docs',
      access: 'open',
      handle: () => {
        page ??= pageReply(known())
        return page
      },
    },
  ]
}

function pageReply(document: ApiDocument): Reply {
  const style = createHash('sha256').update(viewerStyle).digest('base64')
  return {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy':
        `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; ` +
        "form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
    body: viewerPage(document),
  }
}
