/** Numbers in the web page are those that were written, in tables and in trees. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const numbers = ['12345678901234567890', '9007199254740993', '1e400', '1.10']
const members = '"big":12345678901234567890,"odd":9007199254740993,"far":1e400,"price":1.10'

describe.skipIf(!hasBrowser)('numbers in the page', { timeout: 120_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let projectId: string

  beforeAll(async () => {
    service = await RunningService.start()
    projectId = await service.project('support')
    const { status } = await service.request(`/v1/project_logs/${projectId}/insert`, {
      body: `{"events":[{"id":"a","span_id":"a","root_span_id":"a","input":{${members}},"metadata":{${members}},"scores":{"constructor":0.50}}]}`,
    })
    expect(status).toBe(200)
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test('in the answer of a query', async () => {
    const query = `select: input, metadata.odd as odd\nfrom: project_logs('${projectId}')`
    const { page, faults } = await browser.page(
      `/app/default/p/support/query?${new URLSearchParams({ q: query })}`,
    )
    const row = page.locator('tr[data-index="0"]')
    await row.waitFor()
    for (const number of numbers) expect(await row.textContent()).toContain(number)
    await row.click()
    const opened = page.getByRole('region', { name: 'Row 1' })
    for (const number of numbers) await opened.getByText(number).first().waitFor()
    expect(faults).toEqual([])
  })

  test('in the tree of a span', async () => {
    const { page, faults } = await browser.page('/app/default/p/support/logs?live=off&trace=a')
    const input = page.getByRole('region', { name: 'input', exact: true })
    for (const number of numbers) await input.getByText(number, { exact: true }).waitFor()
    await page.getByText('50.0 %').first().waitFor()
    expect(faults).toEqual([])
  })
})
