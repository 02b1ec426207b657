/** The cookie that says who is signed in at the web page. */

const name = 'assay_session'

/** Only sent to this service, by its own pages, and out of reach of scripts. 0 seconds ends it. */
export function sessionCookie(text: string, publicUrl: string, seconds: number): string {
  const { pathname, protocol } = new URL(publicUrl)
  const secure = protocol === 'https:' ? '; Secure' : ''
  const path = pathname.replace(/\/+$/, '') || '/'
  return `${name}=${text}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}

export function sessionText(cookies = ''): string | undefined {
  if (cookies === '') return undefined
  for (const cookie of cookies.split(';')) {
    const [key, value] = cookie.trim().split('=', 2)
    if (key === name && value) return value
  }
  return undefined
}
