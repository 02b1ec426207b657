import { AssayError } from '../../error.ts'
import { escapeHtml } from '../escape-html.ts'
import { readPage } from '../page-files.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import type { Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'

/**
 * Scripts, styles and requests of this server alone. Nothing is written into the HTML, so that no
 * inline code is ever needed.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

export const pageHeaders = {
  'content-security-policy': policy,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
}

/** What is below `/app` is for the page itself to find; paths are no deeper. */
const deepest = 8

/** The web page: `/`, all of `/app`, and the files that it loads. */
export function pageRoutes(publicUrl: PublicUrl): Route[] {
  const show = (request: RouteRequest): Reply => {
    const base = startPath(publicUrl, request.headers)
    return {
      contentType: 'text/html; charset=utf-8',
      headers: pageHeaders,
      body: readPage().html.replace('{{base}}', escapeHtml(base)),
    }
  }
  const paths = Array.from({ length: deepest }, (_, depth) => {
    return `/app${Array.from({ length: depth }, (_, i) => `/:part${i}`).join('')}`
  })
  return [
    ...['/', ...paths].map((path): Route => {
      return { method: 'GET', path, access: 'open', headers: addressHeaders, handle: show }
    }),
    {
      method: 'GET',
      path: '/assets/:name',
      access: 'open',
      headers: ['accept-encoding'],
      handle: fileReply,
    },
  ]
}

/** The path of the service's start, as browsers have it, with a slash at its end: what `<base>` of a page has. */
export function startPath(publicUrl: PublicUrl, headers: RouteRequest['headers']): string {
  const { pathname } = new URL(publicUrl(headers))
  return `${pathname.replace(/\/+$/, '')}/`
}

function fileReply({ parameters, headers }: RouteRequest): Reply {
  const name = parameters[0]!
  const file = readPage().files.get(name)
  if (!file) {
    throw new AssayError('ROUTE_NOT_FOUND', `The page has no file ${name.slice(0, 200)}`, {
      hint: 'reload the page: it may have changed with a new version',
    })
  }
  const accepted = headers.get('accept-encoding') ?? ''
  const ways = [
    { encoding: 'br', body: /\bbr\b/.test(accepted) ? file.brotli : undefined },
    { encoding: 'gzip', body: /\bgzip\b/.test(accepted) ? file.gzip : undefined },
  ]
  const compressed = ways.find(({ body }) => body !== undefined)
  return {
    contentType: file.contentType,
    isCompressible: false,
    headers: {
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      ...(compressed && { 'content-encoding': compressed.encoding }),
    },
    body: compressed?.body ?? file.bytes,
  }
}
