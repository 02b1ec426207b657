/**
 * What a client has seen, in headers: the answer to a change says how far the home node is with it, and a request that brings
 * that along is answered by no node that is not as far.
 */
import { AssayError } from '../../error.ts'
import { parseTransaction } from '../../type/transaction.ts'
import type { RequestHead } from '../http/http-server.ts'
import type { HomeStatus } from './home-status.ts'

/** The newest `_xact_id`. */
export const transactionHeader = 'x-bt-xact-id'
/** The number of the newest change of the catalog. */
export const positionHeader = 'x-bt-catalog-position'
/** Of an answer of a node that has lost its home: for how many seconds. */
export const ageHeader = 'x-assay-home-age'

/** Less is the time that a home may be silent. */
const oldMs = 2000

export interface Seen {
  /** 0 when nothing is said. */
  readonly transaction: number
  readonly position: number
}

/** Undefined when the request says nothing of it. Throws REQUEST_INVALID at what is none. */
export function seenBy(request: RequestHead): Seen | undefined {
  const transaction = request.getHeader(transactionHeader)
  const position = request.getHeader(positionHeader)
  if (transaction === '' && position === '') return undefined
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

/** A line of a head where the home is lost; else none. */
export function ageLine({ ageMs }: HomeStatus): string {
  return ageMs < oldMs ? '' : `${ageHeader}: ${Math.round(ageMs / 1000)}\r\n`
}
