/** The query page as people use it, in a real browser: written, run, shown, saved and taken away. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const path = '/app/default/p/support/query'

describe.skipIf(!hasBrowser)('the query page', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start()
    const project = await service.project('support')
    for (const daysAgo of [3, 2, 1]) {
      const start = Date.now() - daysAgo * 86_400_000
      const events = [...generateSpans({ seed: daysAgo, count: 600, start, kind: 'logs' })]
      await service.insert('project_logs', project, events)
    }
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test('runs an example and shows it as a plot', async () => {
    const { page, faults, picture } = await browser.page(path)
    await page.getByText('Ask something').waitFor()
    await picture('query-empty')
    await page.getByRole('button', { name: /Latency per model/ }).click()
    await page.locator('.lines canvas').waitFor()
    await picture('query-plot')
    await page.getByRole('tab', { name: 'Table' }).click()
    await page.locator('tr[data-index="0"]').click()
    await picture('query-table')
    await page.getByRole('tab', { name: 'Audit log' }).click()
    await page.getByRole('button', { name: 'Run it again with the audit log' }).click()
    await page.getByRole('table', { name: 'Operators of the query' }).waitFor()
    await picture('query-log')
    expect(faults).toEqual([])
  })
})
