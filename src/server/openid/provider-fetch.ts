/** Requests to the provider: over TLS or on this machine, to where it says, and with answers of bounded size. */
import type { CustomFetch } from 'openid-client'
import { isFetchable } from '../../access/sign-in-settings.ts'
import { AssayError } from '../../error.ts'

/** Documents and keys of providers have some ten kilobytes. */
const mostBytes = 2 ** 20

/** Redirects are told as what they are and not followed. */
export const fetchFromProvider: CustomFetch = async (address, options) => {
  const url = new URL(address)
  if (!isFetchable(url)) {
    throw new AssayError(
      'ACCESS_PROVIDER_FAILED',
      `The provider names ${url.origin}, which may not be asked`,
      { hint: 'its addresses have to begin with https://' },
    )
  }
  const { body, ...more } = options
  const response = await fetch(url, {
    ...more,
    body: body ?? null,
    redirect: 'manual',
  } as RequestInit)
  const bytes = await wholeBody(response, url)
  const { status, statusText, headers } = response
  const mayHaveBody = status !== 204 && status !== 205 && status !== 304
  return new Response(mayHaveBody ? bytes : null, { status, statusText, headers })
}

async function wholeBody({ body }: Response, { origin, pathname }: URL): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body ?? []) {
    size += part.byteLength
    if (size > mostBytes) {
      throw new AssayError(
        'ACCESS_PROVIDER_FAILED',
        `${origin}${pathname} has answered with more than ${mostBytes} bytes`,
        { hint: 'see whether --oidc-issuer is the address of the provider' },
      )
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}
