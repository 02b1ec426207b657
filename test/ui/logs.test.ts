/** The web page as people use it, in a real browser: from signing in to one span of a trace. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService, testKey } from '../support/running-service.ts'

const traces = '/app/default/p/support/logs'

describe.skipIf(!hasBrowser)('the web page', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start()
    const { json: project } = await service.request('/v1/project', { body: { name: 'support' } })
    await service.request('/v1/project', { body: { name: 'empty' } })
    const start = Date.now() - 3 * 86_400_000
    const events = [...generateSpans({ seed: 1, count: 1500, start, kind: 'logs' })]
    await service.request(`/v1/project_logs/${project.id}/insert`, { body: { events } })
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test('lets a key in, says why it does not, and lets out again', async () => {
    const { page } = await browser.page('/', { isSignedIn: false })
    await page.getByLabel('API key').fill('sk-wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('no valid API key').waitFor()
    await page.getByLabel('API key').fill(testKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  test('finds traces by words, and shows what they were taken for', async () => {
    const { page, faults } = await browser.page('/app')
    await page.getByRole('link', { name: /support/ }).click()
    await page.locator('tr[data-index="0"]').waitFor()
    await page.getByLabel('Search').fill('errors slower than 2 s')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('with an error; duration above 2 s').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('errors slower than 2 s')
    await page.locator('tr[data-index="0"]').waitFor()
    expect(faults).toEqual([])
  })

  test('opens a trace beside the table, and a span of it, by URL as well', async () => {
    const { page, faults } = await browser.page(traces)
    await page.locator('tr[data-index="2"]').click()
    const spans = page.getByRole('treeitem')
    await spans.nth(1).click()
    await page.getByRole('region', { name: 'output' }).waitFor()
    const { page: other } = await browser.page(page.url().slice(service.url.length))
    await other.getByRole('treeitem').nth(1).and(other.locator('[aria-selected=true]')).waitFor()
    await other.getByRole('button', { name: 'Close the trace' }).click()
    expect(new URL(other.url()).searchParams.has('trace')).toBe(false)
    expect(faults).toEqual([])
  })

  test('loads further rows as one scrolls, keeping few in the document', async () => {
    const { page } = await browser.page(`${traces}?rows=spans`)
    await page.locator('tr[data-index="0"]').waitFor()
    const table = page.locator('.table')
    await expect
      .poll(
        async () => {
          await table.evaluate((element) => element.scrollTo(0, element.scrollHeight))
          return table.locator('.table-foot').textContent()
        },
        { timeout: 30_000 },
      )
      .toContain('1,500 spans')
    expect(await page.locator('tr[data-index]').count()).toBeLessThan(80)
  })

  test('is used with the keyboard alone', async () => {
    const { page } = await browser.page(traces)
    await page.locator('tr[data-index="0"]').waitFor()
    await page.locator('tr[data-index="0"] button').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('tr[data-index="2"][aria-selected=true]').waitFor()
    await page.getByRole('button', { name: 'Close the trace' }).press('Enter')
    await page.locator('body').press('/')
    await page.keyboard.type('tool calls')
    await page.keyboard.press('Enter')
    await page.getByText('spans of type tool').waitFor()
  })

  test('says what to do where there is nothing yet', async () => {
    const { page } = await browser.page('/app/default/p/empty/logs')
    await page.getByRole('heading', { name: 'No logs yet' }).waitFor()
    await page.getByText(`BRAINTRUST_API_URL=${service.url}`).waitFor()
    const { page: absent } = await browser.page('/app/default/p/absent/logs')
    await absent.getByRole('alert').getByText('There is no project "absent"').waitFor()
  })

  for (const theme of ['light', 'dark'] as const) {
    test(`has no serious fault of accessibility, ${theme}`, async () => {
      const signIn = await browser.page('/', { theme, isSignedIn: false })
      await signIn.page.getByRole('button', { name: 'Sign in' }).waitFor()
      expect(await accessibilityFaults(signIn.page)).toEqual([])
      await signIn.picture('sign-in')
      const { page, picture } = await browser.page('/app', { theme })
      await page.getByRole('link', { name: /support/ }).waitFor()
      expect(await accessibilityFaults(page)).toEqual([])
      await picture('projects')
      await page.goto(`${service.url}${traces}?q=errors`)
      await page.locator('tr[data-index="1"]').click()
      await page.getByRole('treeitem').first().waitFor()
      await page.getByRole('region', { name: 'input' }).waitFor()
      expect(await accessibilityFaults(page)).toEqual([])
      await picture('trace')
    })
  }
})

test('the page takes nothing from elsewhere and runs no inline code', async () => {
  const service = await RunningService.start()
  const { headers, text } = await service.request('/app/any/p/where', { key: null })
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(text).not.toMatch(/https?:\/\//)
  expect(text).toContain('<base href="/"')
  for (const [, file] of text.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)) {
    const answer = await service.request(`/${file}`, { key: null })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toContain('immutable')
  }
  expect((await service.request('/assets/..%2Findex.html', { key: null })).status).toBe(404)
  await service.stop()
})

test('the page works below a path of a proxy', async () => {
  const service = await RunningService.start({ ASSAY_PUBLIC_URL: 'https://example.com/assay' })
  const { text } = await service.request('/app', { key: null })
  expect(text).toContain('<base href="/assay/"')
  await service.stop()
})
