/** The documentation in a real browser: reached from the page, searched while one types, light or dark. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService } from '../support/running-service.ts'

describe.skipIf(!hasBrowser)('the documentation', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start()
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test('is reached from the menu, and its links lead from page to page and to headings', async () => {
    const { page, faults } = await browser.page('/app')
    await page.getByRole('link', { name: 'Documentation' }).click()
    await page.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Deploying' }).click()
    await page.getByRole('heading', { name: 'Deploying', level: 1 }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'HTTPS' }).click()
    await expect.poll(() => new URL(page.url()).hash).toBe('#https')
    expect(await page.locator(':target').textContent()).toContain('HTTPS')
    await page.getByRole('link', { name: 'Assay', exact: true }).click()
    await page.getByRole('heading', { name: 'No projects yet' }).waitFor()
    expect(faults).toEqual([])
  })

  test('is searched as one types, and the address keeps the search', async () => {
    const { page, faults, picture } = await browser.page('/docs', { isSignedIn: false })
    await page.keyboard.press('/')
    await page.keyboard.type('kubernetes')
    const first = page.locator('.found a').first()
    await first.getByText('Deploying: Kubernetes').waitFor()
    await expect.poll(() => page.url()).toBe(`${service.url}/docs?q=kubernetes`)
    await picture('docs-search')
    expect(await accessibilityFaults(page)).toEqual([])
    await page.reload()
    await first.click()
    await page.getByRole('heading', { name: 'Kubernetes', level: 2 }).waitFor()
    expect(faults).toEqual([])
  })

  test.each(['light', 'dark'] as const)('is %s as the reader has it', async (theme) => {
    const { page, faults, picture } = await browser.page('/docs/promises', { theme })
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(ground).toBe(theme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 28)')
    expect(await accessibilityFaults(page)).toEqual([])
    await picture('docs')
    expect(faults).toEqual([])
  })

  test.each(['light', 'dark'] as const)(
    'gives sentences room in tables on a phone, which scroll by themselves, %s',
    async (theme) => {
      const { page, picture } = await browser.page('/docs', { theme, width: 390 })
      for (const name of ['running', 'language', 'compatibility', 'clickhouse']) {
        await page.goto(`${service.url}/docs/${name}`)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
        const { narrowest, broken } = await page.evaluate<{ narrowest: number; broken: string[] }>(`
        (() => {
          const cells = [...document.querySelectorAll('tr:has(> :nth-child(3)) > td')]
          const widths = cells.filter(({ className }) => className === 'long').map(({ clientWidth }) => clientWidth)
          const names = cells.filter(({ className }) => className !== 'long').flatMap((cell) => [...cell.querySelectorAll('code')])
          const broken = names.filter((code) => code.getClientRects().length > 1)
          return { narrowest: Math.min(...widths), broken: broken.map(({ textContent }) => textContent) }
        })()
      `)
        expect(narrowest, name).toBeGreaterThan(160)
        expect(broken).toEqual([])
        await page.evaluate(`document.querySelectorAll('.table')[2].scrollIntoView()`)
        await picture(`docs-${name}-390`)
      }
    },
  )

  test('has the theme that was chosen in the page', async () => {
    const { page } = await browser.page('/app', { theme: 'light' })
    await choose(page, 'Theme', 'Dark')
    await page.goto(`${service.url}/docs`)
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  })
})
