/** What the page does while the service does not answer, and once it answers again. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const project = '/app/default/p/support'

/** Each with something that is there once it is loaded. */
const pages: readonly (readonly [path: string, shown: string])[] = [
  ['/app', 'support'],
  [`${project}/home`, 'Slowest traces'],
  [`${project}/logs`, 'Hello?'],
  [`${project}/logs?trace=t`, 'Hello.'],
  [`${project}/experiments`, 'first'],
  [`${project}/experiments/first`, 'one'],
  [`${project}/experiments/first?compare=SECOND`, 'one'],
  [`${project}/datasets`, 'questions'],
  [`${project}/datasets/questions`, 'one'],
  [`${project}/query?q=select: id, input | from: project_logs('support')`, 'Hello?'],
  ['/app/default/settings?tab=queries', 'Running queries'],
  ['/app/default/settings?tab=storage', 'Storage'],
]

/** What pages ask of the service. */
const asked = /\/(btql|search|v1\/|session|admin|metrics)/

/** What a page may ask in three seconds while nothing is answered, beyond what it shows at first. */
const mostTries = 4

/** Below those that systems give to what connects, which could take it while the service is away. */
const port = 20_000 + Math.floor(Math.random() * 10_000)

describe.skipIf(!hasBrowser)('while the service does not answer, the page', () => {
  let service: RunningService
  let browser: PageBrowser
  let second: string

  beforeAll(async () => {
    service = await RunningService.start({}, port)
    const id = await service.project('support')
    await service.insert('project_logs', id, [
      { id: 't', span_id: 't', root_span_id: 't', input: 'Hello?', output: 'Hello.' },
    ])
    for (const name of ['first', 'second']) {
      const experiment = await service.create('experiment', id, name)
      await service.insert('experiment', experiment, [{ input: 'one', scores: { exact: 1 } }])
      second = experiment
    }
    const dataset = await service.create('dataset', id, 'questions')
    await service.insert('dataset', dataset, [{ id: 'a', input: 'one', expected: '1' }])
    browser = await PageBrowser.open(service)
  })

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const open = async (path: string) => (await browser.page(path.replace('SECOND', second))).page

  /** Requests and sockets that are begun, as they are begun. */
  function begun(page: Page): string[] {
    const urls: string[] = []
    page.on('request', (request) => urls.push(`${request.method()} ${request.url()}`))
    page.on('websocket', (socket) => urls.push(socket.url()))
    return urls
  }

  const bar = (page: Page) => page.locator('.connection-bar')

  test('asks seldom, says so once, and heals when the service is back', async () => {
    const opened: (readonly [string, Page])[] = []
    for (const [path] of pages) opened.push([path, await open(path)])
    for (const [i, [, page]] of opened.entries()) {
      await page.getByText(pages[i]![1]).filter({ visible: true }).first().waitFor()
      await page.waitForLoadState('networkidle')
    }
    const startAgain = await service.halt()
    const watched = opened.map(([path, page]) => ({ path, page, urls: begun(page) }))
    // Somebody goes on working: every page is asked for something else.
    for (const { path, page } of watched) {
      await page.getByRole('link', { name: path === '/app' ? 'Settings' : 'Assay' }).click()
    }
    for (const { page } of watched) await bar(page).waitFor()
    await new Promise((resolve) => setTimeout(resolve, 3000))
    for (const { path, page, urls } of watched) {
      expect(urls.length, `${path}:\n${urls.join('\n')}`).toBeLessThan(mostTries + 8)
      expect(await page.getByText('Failed to fetch').count(), path).toBe(0)
      expect(await page.locator('.failure').count(), path).toBe(0)
    }
    service = await startAgain()
    for (const { page } of watched) {
      await bar(page).waitFor({ state: 'detached' })
      await page
        .getByText(/first|Settings/)
        .first()
        .waitFor()
    }
  })

  test('shows what it had while the connection is lost, and what is new afterwards', async () => {
    const page = await open(`${project}/logs`)
    await page.locator('tr[data-index="0"]').waitFor()
    await page.waitForLoadState('networkidle')
    const startAgain = await service.halt()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await bar(page).getByText('The service cannot be reached').waitFor()
    await bar(page).getByRole('button', { name: 'Stop' }).click()
    const urls = begun(page)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(urls).toEqual([])
    service = await startAgain()
    await bar(page).getByRole('button', { name: 'Try again' }).click()
    await bar(page).waitFor({ state: 'detached' })
    await page.locator('tr[data-index="0"]').getByText('Hello?').waitFor()
    const { json } = await service.request('/v1/project?project_name=support')
    const [{ id }] = json.objects as unknown as [{ id: string }]
    await service.insert('project_logs', id, [{ input: 'Are you back?' }])
    await page.locator('tr[data-index="0"]').getByText('Are you back?').waitFor()
  })

  test('waits as long as it is asked to', async () => {
    const page = await open(`${project}/logs`)
    await page.locator('tr[data-index="0"]').waitFor()
    let isRefusing = true
    let count = 0
    await page.route('**/btql', (route) => {
      if (!isRefusing) return route.continue()
      count++
      return route.fulfill({ status: 429, headers: { 'retry-after': '3' }, body: '{}' })
    })
    await page.getByRole('button', { name: 'Refresh' }).click()
    await bar(page).getByText('too many requests').waitFor()
    const first = count
    await new Promise((resolve) => setTimeout(resolve, 2000))
    expect(count).toBe(first)
    isRefusing = false
    await bar(page).waitFor({ state: 'detached' })
    await page.locator('tr[data-index="0"]').getByText(/./).first().waitFor()
  })

  test.each([403, 500])('asks no more than a few times for what gets %d', async (status) => {
    const counts = new Map<string, number>()
    for (const [path] of pages) {
      const page = await open(path)
      await page.waitForLoadState('networkidle')
      await page.route(asked, (route) => {
        if (route.request().url().endsWith('/session')) return route.continue()
        counts.set(path, (counts.get(path) ?? 0) + 1)
        return route.fulfill({ status, body: JSON.stringify({ Message: 'Not for you' }) })
      })
      const { pathname, search } = new URL(page.url())
      await page.getByRole('link', { name: path === '/app' ? 'Settings' : 'Assay' }).click()
      await page.goBack()
      await page.waitForURL(`**${pathname}${search}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 1500))
    for (const [path, count] of counts) expect(count, path).toBeLessThan(25)
    const before = new Map(counts)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    for (const [path, count] of counts) {
      expect(count - (before.get(path) ?? 0), path).toBeLessThan(4)
    }
  })

  test('takes its time where every answer takes two seconds', async () => {
    const opened: Page[] = []
    for (const [path] of pages) {
      const page = await open('/docs')
      opened.push(page)
      await page.route(asked, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 2000))
        await route.continue().catch(() => undefined)
      })
      await page.goto(service.url + path.replace('SECOND', second))
    }
    for (const [i, [path, shown]] of pages.entries()) {
      await opened[i]!.getByText(shown).filter({ visible: true }).first().waitFor()
      expect(await opened[i]!.locator('.failure').count(), path).toBe(0)
    }
  })

  test('asks to be loaded anew where the service has another version by then', async () => {
    const page = await open(`${project}/logs`)
    await page.locator('tr[data-index="0"]').waitFor()
    await page.route('**/assets/*', (route) => route.fulfill({ status: 404 }))
    await page.getByRole('link', { name: 'Datasets' }).click()
    const told = page.getByRole('alert')
    await told.getByText('This page is older than the service').waitFor()
    await page.unroute('**/assets/*')
    await told.getByRole('button', { name: 'Reload the page' }).click()
    await page.getByRole('link', { name: 'questions' }).waitFor()
  })
})
