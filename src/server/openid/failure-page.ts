/** What the browser shows when a sign-in fails: in words, without scripts, and with a way back. */
import { createHash } from 'node:crypto'
import type { AssayError } from '../../error.ts'
import { escapeHtml } from '../escape-html.ts'
import type { Reply } from '../reply.ts'

const otherPath = '/session/openid?prompt=login'

const style = `
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto 0; padding: 0 1rem }
h1 { font-size: 1.3rem } p { overflow-wrap: anywhere } .code { opacity: .75; font-size: .85rem }
`
const styleHash = createHash('sha256').update(style).digest('base64')

const failureHeaders = {
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; ` +
    "form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/** @param url the public URL */
export function failurePage(
  error: AssayError,
  { url, cookies }: { readonly url: string; readonly cookies: readonly string[] },
): Reply {
  const hint = error.hint === undefined ? '' : `<p>What to do: ${escapeHtml(error.hint)}.</p>`
  const link = (path: string, text: string) => `<a href="${escapeHtml(url + path)}">${text}</a>`
  // The provider would sign the same person in again without a question.
  const other = error.code === 'ACCESS_DENIED' ? ` · ${link(otherPath, 'Use another account')}` : ''
  return {
    status: error.status,
    contentType: 'text/html; charset=utf-8',
    headers: { ...failureHeaders, 'set-cookie': cookies },
    body:
      '<!doctype html><html lang="en"><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width, initial-scale=1">' +
      `<title>Assay: not signed in</title><style>${style}</style>` +
      `<main><h1>You are not signed in</h1><p>${escapeHtml(error.message)}.</p>${hint}` +
      `<p>${link('/app', 'Back to the sign-in')}${other}</p>` +
      `<p class="code">${error.code}</p></main></html>`,
  }
}
