import { apiPage } from '../docs/document-shell.ts'
import { documentReply } from '../docs/routes.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import { jsonReply } from '../reply.ts'
import { startPath } from '../route/page.ts'
import type { Route } from '../route.ts'
import { type ApiDocument, apiDocument } from './api-document.ts'
import { apiDocumentHtml } from './api-document-html.ts'

/** `/openapi.json` and its page among those of the documentation, of the routes given. Both are made when they are first asked for. */
export function documentRoutes(routes: readonly Route[], publicUrl: PublicUrl): Route[] {
  let document: ApiDocument | undefined
  let body: string | undefined
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
      path: `/docs/${apiPage}`,
      access: 'open',
      headers: addressHeaders,
      handle: ({ headers }) => {
        body ??= apiDocumentHtml(known())
        const shown = { name: apiPage, title: 'API document', body }
        return documentReply(startPath(publicUrl, headers), shown)
      },
    },
  ]
}
