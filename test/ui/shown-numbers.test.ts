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

  test('in cells and differences of datasets and experiments', async () => {
    const [before, after] = ['12345678901234567890', '12345678901234567891']
    const records = (number: string, more = '') =>
      `{"events":[{"id":"a","span_id":"a","root_span_id":"a","input":${number},"metadata":{"n":${number}}${more}}]}`
    const versionOf = async (id: string) => {
      const { json } = await service.query(`select: _xact_id | from: dataset('${id}')`)
      return String((json.data as unknown as readonly { _xact_id: string }[])[0]!._xact_id)
    }
    const dataset = await service.create('dataset', projectId, 'numbers')
    await service.request(`/v1/dataset/${dataset}/insert`, { body: records(before) })
    const version = await versionOf(dataset)
    await service.request(`/v1/dataset/${dataset}/insert`, { body: records(after) })
    const experiments = new Map<string, string>()
    for (const number of [before, after]) {
      const id = await service.create('experiment', projectId, number)
      const body = records(before, `,"output":{"x":${number}},"scores":{"exact":0.5}`)
      await service.request(`/v1/experiment/${id}/insert`, { body })
      experiments.set(number, id)
    }
    const compare = `experiments/${before}?compare=${experiments.get(after)}`
    for (const [path, numbers] of [
      ['datasets/numbers', [after]],
      [`datasets/numbers?from=${version}`, [before, after]],
      [`experiments/${before}`, [before]],
      [compare, [before, after]],
      [`${compare}&row=a`, [before, after]],
    ] as const) {
      const { page } = await browser.page(`/app/default/p/support/${path}`)
      for (const number of numbers) {
        const shown = page.locator('td, del, ins, pre, .json, .difference')
        await shown
          .getByText(number)
          .or(shown.filter({ hasText: number }))
          .first()
          .waitFor()
      }
      expect(await page.locator('#content').textContent()).not.toMatch(
        /1234567890123456(?!789[01])/,
      )
    }
  })

  test('in the tree of a span', async () => {
    const { page, faults } = await browser.page('/app/default/p/support/logs?live=off&trace=a')
    const input = page.getByRole('region', { name: 'input', exact: true })
    for (const number of numbers) await input.getByText(number, { exact: true }).waitFor()
    await page.getByText('50.0 %').first().waitFor()
    expect(faults).toEqual([])
  })
})
