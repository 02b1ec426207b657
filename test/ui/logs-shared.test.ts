/** What one has made of the logs is in the address: somebody else who opens it sees the same. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const logs = '/app/default/p/support/logs'
const patiently = { timeout: 60_000 }

/** All that a person sees of a view, as one text. */
const seen = `(() => {
  const texts = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent)
  const heads = [...document.querySelectorAll('th[data-column]')]
  return JSON.stringify({
    columns: heads.map((each) => [each.dataset.column, each.style.width, each.ariaSort]),
    rows: texts('tr[data-index] td:first-child').slice(0, 5),
    status: texts('.table-foot'),
    told: texts('.taken > p'),
    time: texts('.histogram-tools .hint'),
    open: [...document.querySelectorAll('tr[aria-selected=true]')].map((each) => each.dataset.index),
    spans: texts('.span-line .span-title'),
    span: texts('[role=treeitem][aria-selected=true] .span-title'),
    figures: texts('.span .numbers dd'),
    share: document.querySelector('.split')?.getAttribute('style'),
    isWide: document.querySelector('.split.wide') !== null,
  })
})()`

/** What is seen once it is seen twice in a row, with all of its parts, and all rows are counted. */
async function settled(page: Page): Promise<string> {
  let last = ''
  await expect
    .poll(async () => {
      const before = last
      last = await page.evaluate<string>(seen)
      const isWhole = /"time":\[".+"\]/.test(last) && !/Loading|loading|or more/.test(last)
      return last === before && isWhole
    }, patiently)
    .toBe(true)
  return last
}

describe.skipIf(!hasBrowser)('an address of the logs', { timeout: 180_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let projectId: string

  beforeAll(async () => {
    service = await RunningService.start()
    projectId = await service.project('support')
    const start = Date.now() - 3 * 86_400_000
    const events = [...generateSpans({ seed: 1, count: 600, start, kind: 'logs' })]
    await service.insert('project_logs', projectId, events)
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const open = async (path: string) => {
    const opened = await browser.page(path)
    opened.page.setDefaultTimeout(60_000)
    return opened
  }

  test('has the search, columns, their order and widths, sort, time, row, span and shares', async () => {
    const { page, faults } = await open(`${logs}?live=off`)
    await page.locator('tr[data-index="0"]').waitFor()
    await choose(page, 'Rows', 'spans')
    await page.getByLabel('Search').fill('metrics.tokens > 50')
    await page.getByLabel('Search').press('Enter')
    await page.getByText('run as written').waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Cost' }).check()
    await page.keyboard.press('Escape')
    await page.locator('th[data-column=cost] button').press('Shift+ArrowLeft')
    await page.locator('th[data-column=input] button').press('+')
    await page.locator('th[data-column=duration] button').click()
    await page.locator('th[data-column=duration][aria-sort=descending]').waitFor()
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('time'), patiently).toContain('~')
    await page.locator('tr[data-index="1"] .opens').click()
    await page.getByRole('treeitem').last().click()
    await page.locator('[role=treeitem][aria-selected=true]').waitFor()
    await page.getByRole('separator', { name: 'Width of the table' }).press('ArrowLeft')
    const mine = await settled(page)
    const other = await open(page.url().slice(service.url.length))
    expect(JSON.parse(await settled(other.page))).toEqual(JSON.parse(mine))

    await page.getByRole('button', { name: 'Full page' }).click()
    await page.getByLabel('Find in this trace').fill('e')
    const wide = await settled(page)
    expect(JSON.parse(wide).isWide).toBe(true)
    const third = await open(page.url().slice(service.url.length))
    await expect.poll(() => third.page.evaluate<string>(seen), patiently).toBe(wide)
    expect([...faults, ...other.faults, ...third.faults]).toEqual([])
  })

  test('may name any field of metadata, however long the rest of it is', async () => {
    const filler = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`filler_${i}`, `value number ${i}`]),
    )
    await service.insert('project_logs', projectId, [
      {
        id: 'long',
        input: 'much is known',
        metadata: { ...filler, zone: 'eu-7', model: 'tiny-1' },
      },
    ])
    const { page, faults } = await open(`${logs}?live=off`)
    const row = page.locator('tr[data-index="0"]')
    await row.getByText('tiny-1').waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByLabel('Find a column').fill('metadata.zone')
    await page
      .getByRole('button', { name: 'Add metadata.zone' })
      .or(page.getByRole('checkbox', { name: 'metadata.zone' }))
      .click()
    await row.getByText('eu-7').waitFor()
    await page.keyboard.press('Escape')
    await row.locator('.opens').click()
    const metadata = page.getByRole('region', { name: 'metadata' })
    await metadata.getByText('42 fields').waitFor()
    await metadata.getByLabel('Find in metadata').fill('eu-7')
    await metadata.getByText('1 found').waitFor()
    const other = await open(page.url().slice(service.url.length))
    await other.page.locator('tr[data-index="0"]').getByText('eu-7').waitFor()
    expect([...faults, ...other.faults]).toEqual([])
  })
})
