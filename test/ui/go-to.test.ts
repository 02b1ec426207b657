/** Ways through the page: Ctrl K, and from one project to the same page of another. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, type OpenPage, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService } from '../support/running-service.ts'

describe.skipIf(!hasBrowser)('from anywhere to anywhere', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start()
    const id = await service.project('support')
    await service.project('sales')
    const root = { root_span_id: 'trace-0001', span_attributes: { name: 'answer' } }
    await service.insert('project_logs', id, [
      { id: 'record-1', span_id: 'trace-0001', ...root },
      { id: 'record-2', span_id: 'span-0002', span_parents: ['trace-0001'], ...root },
    ])
    await service.create('experiment', id, 'nightly run')
    await service.create('dataset', id, 'hard questions')
    await service.request('/v1/view', {
      body: { object_type: 'project', object_id: id, view_type: 'logs', name: 'slow answers' },
    })
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const goTo = async ({ page }: OpenPage, text: string, found: RegExp) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to' }).fill(text)
    await page.getByRole('option', { name: found }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    return new URL(page.url())
  }

  test('Ctrl K finds experiments, datasets and views by name, and traces by an id', async () => {
    const opened = await browser.page('/app/default/p/support/home')
    await opened.page.getByRole('heading', { name: 'Home' }).waitFor()
    const experiment = await goTo(opened, 'nightly', /nightly run experiment/)
    expect(experiment.pathname).toBe('/app/default/p/support/experiments/nightly%20run')
    const dataset = await goTo(opened, 'hard', /hard questions dataset/)
    expect(dataset.pathname).toBe('/app/default/p/support/datasets/hard%20questions')
    const view = await goTo(opened, 'slow view', /slow answers view/)
    expect(view.pathname).toBe('/app/default/p/support/logs')
    for (const [id, span] of [
      ['trace-0001', null],
      ['span-0002', 'span-0002'],
      ['record-2', 'span-0002'],
    ] as const) {
      const { searchParams } = await goTo(opened, id, /answer trace/)
      expect([searchParams.get('trace'), searchParams.get('span')]).toEqual(['trace-0001', span])
      await opened.page.getByRole('tree', { name: 'Spans' }).waitFor()
    }
    expect(opened.faults).toEqual([])
  })

  test('the name of the project leads to the same page of others', async () => {
    const { page, faults } = await browser.page('/app/default/p/support/datasets')
    await page.getByRole('button', { name: 'Project support' }).click()
    await page.getByLabel('Find a project to switch to').fill('sal')
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('link', { name: 'sales' }).click()
    await page.getByRole('button', { name: 'Project sales' }).waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/app/default/p/sales/datasets')
    await page.getByRole('link', { name: 'sales' }).waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })
})
