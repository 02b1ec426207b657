/** Headers that say under which address a client reached the server, itself or through a proxy. */
export const addressHeaders: readonly string[] = ['host', 'x-forwarded-host', 'x-forwarded-proto']

/** The base of the URLs that answers contain: as configured, or else as the client has it. */
export type PublicUrl = (headers: ReadonlyMap<string, string>) => string

export function publicUrl(configured: string | undefined): PublicUrl {
  if (configured !== undefined) return () => configured
  return (headers) => {
    const host = firstOf(headers.get('x-forwarded-host') ?? headers.get('host'))
    const scheme = firstOf(headers.get('x-forwarded-proto')) === 'https' ? 'https' : 'http'
    return `${scheme}://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`
  }
}

/** Proxies in a row separate what each has seen by commas; the first is the client's. */
function firstOf(header = ''): string {
  return header.split(',')[0]!.trim()
}
