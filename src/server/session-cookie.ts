/** The cookie that says who is signed in at the web page, and how cookies are written and read. */

const name = 'assay_session'

/** Only sent to this service, by its own pages, and out of reach of scripts. 0 seconds ends it. */
export function sessionCookie(text: string, publicUrl: string, seconds: number): string {
  return pathCookie(name, text, { publicUrl, path: '', seconds, sameSite: 'Strict' })
}

export interface CookieOptions {
  readonly publicUrl: string
  /** Below the public URL, as `/session`; empty for all that is there. */
  readonly path: string
  readonly seconds: number
  /** `Lax`: it also comes with a link of another site that leads here. */
  readonly sameSite: 'Strict' | 'Lax'
}

export function pathCookie(name: string, value: string, options: CookieOptions): string {
  const { publicUrl, path, seconds, sameSite } = options
  const { pathname, protocol } = new URL(publicUrl)
  const secure = protocol === 'https:' ? '; Secure' : ''
  const whole = `${pathname.replace(/\/+$/, '')}${path}` || '/'
  return `${name}=${value}; Path=${whole}; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure}`
}

export function sessionText(cookies = ''): string | undefined {
  if (cookies === '') return undefined
  return cookieValues(cookies).find(([key, value]) => key === name && value !== '')?.[1]
}

/** Those of the header, in its order. */
export function cookieValues(cookies = ''): [name: string, value: string][] {
  return cookies.split(';').map((cookie) => {
    const [key = '', value = ''] = cookie.trim().split('=', 2)
    return [key, value]
  })
}
