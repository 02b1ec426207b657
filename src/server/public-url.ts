/** Headers that say under which address a client reached the server, itself or through a proxy. */
export const addressHeaders: readonly string[] = ['host', 'x-forwarded-host', 'x-forwarded-proto']

/** The base of the URLs that answers contain: as configured, or else as the client has it. */
export type PublicUrl = (headers: ReadonlyMap<string, string>) => string

/**
 * @param trustedProxies how many proxies stand before the service. With none, anybody could have written what
 * the headers of proxies say, and they count for nothing.
 */
export function publicUrl(configured: string | undefined, trustedProxies = 0): PublicUrl {
  if (configured !== undefined) return () => configured
  return (headers) => {
    const told = (name: string) =>
      trustedProxies > 0 ? toldByProxy(headers.get(name), trustedProxies) : undefined
    const host = told('x-forwarded-host') ?? headers.get('host') ?? ''
    const scheme = told('x-forwarded-proto') === 'https' ? 'https' : 'http'
    return `${scheme}://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`
  }
}

/** The address that a request comes from: of the connection, or as trusted proxies tell it. */
export function clientAddress(
  connected: string,
  forwardedFor: string,
  trustedProxies: number,
): string {
  if (trustedProxies === 0) return connected
  return toldByProxy(forwardedFor, trustedProxies) ?? connected
}

/**
 * Each proxy adds what it has seen behind what came with the request: with one, the last is true and all before it
 * may be made up. Undefined where the header is not there.
 */
function toldByProxy(header = '', trustedProxies: number): string | undefined {
  const values = header.split(',').map((value) => value.trim())
  return values[Math.max(0, values.length - trustedProxies)] || undefined
}
