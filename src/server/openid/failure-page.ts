/** What the browser shows when a sign-in fails: in words, without scripts, and with a way back. */
import { createHash } from 'node:crypto'
import type { AssayError } from '../../error.ts'
import { escapeHtml } from '../escape-html.ts'
import type { Reply } from '../reply.ts'

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

/** @param back where one can sign in again */
export function failurePage(error: AssayError, back: string, cookies: readonly string[]): Reply {
  const hint = error.hint === undefined ? '' : `<p>What to do: ${escapeHtml(error.hint)}.</p>`
  return {
    status: error.status,
    contentType: 'text/html; charset=utf-8',
    headers: { ...failureHeaders, 'set-cookie': cookies },
    body:
      '<!doctype html><html lang="en"><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width, initial-scale=1">' +
      `<title>Assay: not signed in</title><style>${style}</style>` +
      `<main><h1>You are not signed in</h1><p>${escapeHtml(error.message)}.</p>${hint}` +
      `<p><a href="${escapeHtml(back)}">Back to the sign-in</a></p>` +
      `<p class="code">${error.code}</p></main></html>`,
  }
}
