/** The pages of `src/docs` as the service shows them, without a key. */
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

const folder = new URL('../../src/docs/', import.meta.url)
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => name.replace('.md', ''))

let service: RunningService
beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

function read(path: string) {
  return service.request(path, { key: null })
}

describe('the documentation', () => {
  test('begins at /docs, with or without a slash, and its menu has every page', async () => {
    const { status, text, headers } = await read('/docs')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect((await read('/docs/')).text).toBe(text)
    for (const name of [...names, 'api']) expect(text).toContain(`<a href="docs/${name}"`)
  })

  test.each(names)('shows %s under the policy of the web page', async (name) => {
    const { status, text, headers } = await read(`/docs/${name}`)
    expect(status).toBe(200)
    expect(text).toMatch(/<main[^>]*>\s*<h1>/)
    expect(text).toContain(`<a href="docs/${name}" aria-current="page">`)
    const page = await read('/app')
    expect(headers.get('content-security-policy')).toBe(page.headers.get('content-security-policy'))
    expect(text).not.toMatch(/<script(?! type="module" src="assets\/)|<style| on\w+="/)
  })

  test('leads nowhere but to what there is', async () => {
    const asked = new Map<string, Promise<string>>()
    const textOf = (path: string) => {
      const before = asked.get(path)
      if (before) return before
      const now = read(`/${path}`).then(({ status, text }) => {
        expect(status, path).toBe(200)
        return text
      })
      asked.set(path, now)
      return now
    }
    for (const name of ['', ...names]) {
      const text = await textOf(name === '' ? 'docs' : `docs/${name}`)
      for (const [, address] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^(https:|data:|\/$|app$)/.test(address!)) continue
        const [path, anchor] = address!.split('#')
        const target = await textOf(path!)
        if (anchor !== undefined) expect(target, `${name}: ${address}`).toContain(`id="${anchor}"`)
      }
    }
  })

  test('says what is missing, to browsers with the menu', async () => {
    const { status, json } = await read('/docs/nothing')
    expect([status, json.error?.code]).toEqual([404, 'ROUTE_NOT_FOUND'])
    const headers = { accept: 'text/html,*/*;q=0.8' }
    const page = await service.request('/docs/<i>nothing', { key: null, headers })
    expect(page.status).toBe(404)
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    expect(page.text).toContain('<a href="docs/http"')
    expect(page.text).toContain('&lt;i&gt;nothing')
  })
})

describe('its search', () => {
  test('finds the sections that have all the words, whatever their case', async () => {
    const { text } = await read('/docs?q=HTTPS+caddyfile')
    expect(text).toContain('<a href="docs/deploy#https">')
    expect(text).toContain('<mark>Caddyfile</mark>')
    expect(text).toContain('value="HTTPS caddyfile"')
  })

  test('names a heading before all that only mentions it', async () => {
    const { text } = await read('/docs?q=kubernetes')
    expect(/<ol class="found"><li><a href="([^"]*)"/.exec(text)?.[1]).toBe('docs/deploy#kubernetes')
  })

  test('shows what has most of the words where no section has all', async () => {
    const { text } = await read('/docs?q=xyzzyx+kubernetes')
    expect(text).toContain('No page has all these words.')
    expect(text).toContain('<a href="docs/deploy#kubernetes">')
  })

  test('says that nothing was found, or what to type', async () => {
    expect((await read('/docs?q=xyzzyx')).text).toContain('No page has any of these words.')
    expect((await read('/docs?q=')).text).toContain('Type what to look for.')
  })

  test('shows what was typed as a text, however it is written', async () => {
    const typed = '"><script>alert(1)</script>'
    const { text } = await read(`/docs?q=${encodeURIComponent(typed)}`)
    expect(text).not.toContain('<script>alert')
    const long = await read(`/docs?q=${'a+'.repeat(2000)}`)
    expect(long.status).toBe(200)
  })
})
