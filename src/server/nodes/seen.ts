/**
 * What a client has seen, in headers: the answer to a change says how far the home node is with it, and a request that brings
 * that along is answered by no node that is not as far.
 */
import { AssayError } from '../../error.ts'
import { parseTransaction } from '../../type/transaction.ts'
import type { RequestHead } from '../http/http-server.ts'
import { cookieValues, pathCookie, sessionText } from '../session-cookie.ts'
import type { HomeStatus } from './home-status.ts'

/** The newest `_xact_id`. */
export const transactionHeader = 'x-bt-xact-id'
/** The number of the newest change of the catalog. */
export const positionHeader = 'x-bt-catalog-position'
/** Of the page, which cannot send headers with every request: both, with a dot between them. */
export const seenCookie = 'assay_seen'
/** A node that is behind by more than that has lost its home. */
const seenSeconds = 3600
/** Of an answer of a node that has lost its home: for how many seconds. */
export const ageHeader = 'x-assay-home-age'

/** Less is the time that a home may be silent. */
const oldMs = 2000

export interface Seen {
  /** 0 when nothing is said. */
  readonly transaction: number
  readonly position: number
}

/**
 * Undefined when the request says nothing of it. Headers count before the page's cookie, which may be anything. Throws
 * REQUEST_INVALID at headers that are none.
 */
export function seenBy(request: RequestHead): Seen | undefined {
  const transaction = request.getHeader(transactionHeader)
  const position = request.getHeader(positionHeader)
  if (transaction === '' && position === '') return seenByPage(request.getHeader('cookie'))
  if (!/^\d{0,15}$/.test(position)) {
    throw new AssayError('REQUEST_INVALID', `${positionHeader} must be a number`, {
      hint: 'it is what the answer to a change has in the same header',
    })
  }
  return {
    transaction: transaction === '' ? 0 : parseTransaction(transaction),
    position: Number(position),
  }
}

/** How the page is told what it has seen, for its next requests. */
export interface SeenByPage {
  /** For `set-cookie`; what ends the cookie when nothing is given. */
  cookie(seen?: { readonly transaction: string; readonly position: number }): string
}

/** Undefined where the request is not of a page, or has nothing to tell. */
export function pageOf(
  request: RequestHead,
  changes: boolean,
  publicUrl: () => string,
): SeenByPage | undefined {
  const cookies = request.getHeader('cookie')
  const isOfPage = cookies.includes(seenCookie) || (changes && sessionText(cookies) !== undefined)
  if (!isOfPage) return
  const place = { publicUrl: publicUrl(), path: '', sameSite: 'Strict' } as const
  return {
    cookie: (seen) => {
      const text = seen ? `${seen.transaction}.${seen.position}` : ''
      return pathCookie(seenCookie, text, { ...place, seconds: seen ? seenSeconds : 0 })
    },
  }
}

function seenByPage(cookies: string): Seen | undefined {
  if (!cookies.includes(seenCookie)) return undefined
  const text = cookieValues(cookies).find(([name]) => name === seenCookie)?.[1] ?? ''
  const [transaction = '', position = ''] = text.split('.')
  if (!/^\d{1,15}$/.test(position) || !/^\d{19,20}$/.test(transaction)) return undefined
  return { transaction: parseTransaction(transaction), position: Number(position) }
}

/** A line of a head where the home is lost; else none. */
export function ageLine({ ageMs }: HomeStatus): string {
  return ageMs < oldMs ? '' : `${ageHeader}: ${Math.round(ageMs / 1000)}\r\n`
}
