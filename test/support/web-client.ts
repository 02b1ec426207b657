/** Does what a browser does with redirects, forms and cookies, a step at a time, so that a test can stand between. */
export class WebClient {
  readonly #cookies = new Map<string, Map<string, StoredCookie>>()

  /** What a page of another host is sent, too, is not asked: all are of this machine. */
  async get(url: string, headers: Record<string, string> = {}): Promise<WebAnswer> {
    return this.#request(url, { method: 'GET', headers })
  }

  async post(url: string, form: Record<string, string>): Promise<WebAnswer> {
    return this.#request(url, { method: 'POST', body: new URLSearchParams(form) })
  }

  /** Follows redirects from there until there is none, or the next one begins with `until`, which is not asked. */
  async follow(url: string, until?: string): Promise<WebAnswer> {
    let at = url
    for (let step = 0; step < 20; step++) {
      if (until !== undefined && at.startsWith(until)) {
        return { status: 0, url: at, headers: new Headers(), text: '' }
      }
      const answer = await this.get(at, { accept: 'text/html' })
      const location = answer.headers.get('location')
      if (location === null) return answer
      at = new URL(location, at).href
    }
    throw new Error(`too many redirects from ${url}`)
  }

  /** Those that are sent to an address. */
  cookies(url: string): string {
    const { host, pathname } = new URL(url)
    const fitting = [...(this.#cookies.get(host)?.entries() ?? [])].filter(([, { path }]) => {
      return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
    })
    return fitting.map(([name, { value }]) => `${name}=${value}`).join('; ')
  }

  forgetCookies(): void {
    this.#cookies.clear()
  }

  async #request(url: string, init: RequestInit): Promise<WebAnswer> {
    const cookie = this.cookies(url)
    const headers = new Headers(init.headers)
    if (cookie !== '') headers.set('cookie', cookie)
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.#keep(url, line)
    return { status: response.status, url, headers: response.headers, text: await response.text() }
  }

  #keep(url: string, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
    const at = pair.indexOf('=')
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
    const attribute = (key: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1)
    const { host } = new URL(url)
    const ofHost = this.#cookies.get(host) ?? new Map<string, StoredCookie>()
    this.#cookies.set(host, ofHost)
    const isOver =
      attribute('max-age') === '0' || Date.parse(attribute('expires') ?? '') < Date.now()
    if (isOver || value === '') ofHost.delete(name)
    else ofHost.set(name, { value, path: attribute('path') ?? '/' })
  }
}

interface StoredCookie {
  readonly value: string
  readonly path: string
}

export interface WebAnswer {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly text: string
}
