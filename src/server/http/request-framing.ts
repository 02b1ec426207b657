/** Where a request ends: what its headers say of that must not be read in two ways. */
import { AssayError } from '../../error.ts'
import type { RequestHead } from './http-server.ts'

export type Framing = 'none' | 'length' | 'chunks'

/** More digits than any body has. */
const lengthForm = /^\d{1,15}$/

/**
 * Throws for what a proxy may read in another way than the HTTP server does: a body that it takes for longer or shorter has a
 * second request in it. The connection has to be closed then, before anything behind the headers is read.
 *
 * uWS itself refuses lines that are no headers, other versions of HTTP, and a length beside an encoding. It
 * takes the first of several lengths and hosts, and anything that ends in `chunked` for that. Node's parser refuses
 * all but what is wrong with hosts.
 */
export function framingOf(request: RequestHead): Framing {
  seen.hosts = 0
  seen.lengths = 0
  seen.encodings = 0
  request.forEach(see)
  const { hosts, lengths, encodings } = seen
  if (hosts !== 1 || seen.host === '') throw ambiguous('one "host"')
  if (encodings > 0) {
    if (encodings > 1 || lengths > 0 || seen.encoding.toLowerCase() !== 'chunked') {
      throw ambiguous('the body’s length as a number, or "transfer-encoding: chunked"')
    }
    return 'chunks'
  }
  if (lengths === 0) return 'none'
  if (lengths > 1 || !lengthForm.test(seen.length)) {
    throw ambiguous('one "content-length", a number')
  }
  return 'length'
}

/** Of the request that is looked at: each header costs a call, and should not cost more. */
const seen = { hosts: 0, host: '', lengths: 0, length: '', encodings: 0, encoding: '' }

function see(name: string, value: string): void {
  switch (name) {
    case 'host':
      seen.hosts++
      seen.host = value
      break
    case 'content-length':
      seen.lengths++
      seen.length = value
      break
    case 'transfer-encoding':
      seen.encodings++
      seen.encoding = value
      break
  }
}

export function ambiguous(wanted: string): AssayError {
  return new AssayError(
    'REQUEST_INVALID',
    'the headers do not say for sure where the request ends',
    {
      hint: `send ${wanted}`,
    },
  )
}
