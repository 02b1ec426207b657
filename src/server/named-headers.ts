import type { RequestHead } from './http/http-server.ts'

/** Headers of a request that a route asks for, by their names in lower case; those that it has not are left out. */
export function namedHeaders(request: RequestHead, names: readonly string[] | 'all' = []) {
  const headers = new Map<string, string>()
  if (names === 'all') {
    request.forEach((name, value) => {
      const before = headers.get(name)
      headers.set(name, before === undefined ? value : `${before}, ${value}`)
    })
    return headers
  }
  for (const name of names) {
    const value = request.getHeader(name)
    if (value !== '') headers.set(name, asUtf8(value))
  }
  return headers
}

/** A header's bytes, which come as Latin-1, as the UTF-8 that programs send today; as they came if they are none. */
function asUtf8(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value
  const text = Buffer.from(value, 'latin1').toString()
  return text.includes('\ufffd') ? value : text
}
