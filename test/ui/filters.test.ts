/** Logs filtered without typing, in a real browser: by values that are shown, by facets, by suggestions. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import type { SpanRecord } from '../../src/demo/record.ts'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService } from '../support/running-service.ts'

const logs = '/app/default/p/support/logs?live=off'
const spansPath = `${logs}&rows=spans`

describe.skipIf(!hasBrowser)('filters of the logs', { timeout: 90_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let spans: SpanRecord[]
  let project: string

  beforeAll(async () => {
    service = await RunningService.start()
    project = await service.project('support')
    const start = Date.now() - 3_600_000
    spans = [...generateSpans({ seed: 7, count: 500, start, kind: 'logs', pauseMs: 100 })]
    expect((await service.insert('project_logs', project, spans)).status).toBe(200)
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const modelOf = ({ metadata }: SpanRecord) => metadata.model
  const count = (isMeant: (span: SpanRecord) => boolean) => spans.filter(isMeant).length
  const textOf = (page: Page) => new URL(page.url()).searchParams.get('q')
  const chips = (page: Page) => page.getByRole('list', { name: 'Filters' }).getByRole('listitem')

  const showsRows = (page: Page, rows: number, one = 'span') =>
    expect
      .poll(() => page.locator('.table-foot').textContent())
      .toBe(`${rows.toLocaleString('en')} ${one}${rows === 1 ? '' : 's'}`)

  /** The cell of a column in the first row that has the text. */
  const cell = (page: Page, text: string) =>
    page
      .locator('tr[data-index] td')
      .filter({ hasText: new RegExp(`^${text}$`) })
      .first()

  test('a value in a cell becomes a filter, or what is left out, and each can be taken out', async () => {
    const { page, faults, picture } = await browser.page(spansPath)
    await showsRows(page, spans.length)
    await cell(page, 'gpt-4o').hover()
    await page.getByRole('button', { name: "Only metadata.model = 'gpt-4o'" }).click()
    await showsRows(
      page,
      count((span) => modelOf(span) === 'gpt-4o'),
    )
    expect(textOf(page)).toBe("metadata.model = 'gpt-4o'")
    await page.getByRole('button', { name: /^Columns/ }).click()
    await page.getByRole('checkbox', { name: 'Name' }).click()
    await page.keyboard.press('Escape')
    await page.getByLabel('Find a column').waitFor({ state: 'detached' })
    const name = (await cell(page, 'chat completion').textContent())!
    await cell(page, name).hover()
    await page.getByRole('button', { name: `Without span_attributes.name = '${name}'` }).click()
    const isNamed = (span: SpanRecord) => span.span_attributes.name === name
    await showsRows(
      page,
      count((span) => modelOf(span) === 'gpt-4o' && !isNamed(span)),
    )
    expect(await chips(page).count()).toBe(2)
    await picture('filters-chips')
    await page.getByRole('button', { name: /Remove the filter metadata.model/ }).click()
    await showsRows(
      page,
      count((span) => !isNamed(span)),
    )
    await page.goBack()
    await expect.poll(() => chips(page).count()).toBe(2)
    expect(faults).toEqual([])
  })

  test('a box of a facet is ticked at once, before the service has read the search', async () => {
    const { page } = await browser.page(`${spansPath}&facets=metadata.model`)
    const box = (model: string) =>
      page.getByRole('listitem').filter({ has: page.getByText(model, { exact: true }) })
    await box('gpt-4o').getByRole('checkbox').waitFor()
    let answer = () => {}
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/search', async (route) => {
      await isAnswered
      await route.continue()
    })
    await box('gpt-4o').getByRole('checkbox').click()
    await expect.poll(() => box('gpt-4o').getByRole('checkbox').isChecked()).toBe(true)
    await box('claude-sonnet-4').getByRole('checkbox').click()
    await expect.poll(() => box('claude-sonnet-4').getByRole('checkbox').isChecked()).toBe(true)
    answer()
    await showsRows(
      page,
      count((span) => ['gpt-4o', 'claude-sonnet-4'].includes(String(modelOf(span)))),
    )
    expect(await box('gpt-4o').getByRole('checkbox').isChecked()).toBe(true)
  })

  test('a filter is changed in place', async () => {
    const search = encodeURIComponent("metadata.model = 'gpt-4o' and error is null")
    const { page } = await browser.page(`${spansPath}&q=${search}`)
    await page.getByRole('button', { name: "metadata.model = 'gpt-4o'", exact: true }).click()
    await page.getByLabel('Condition').fill("metadata.model = 'claude-sonnet-4'")
    await page.keyboard.press('Enter')
    const isMeant = (span: SpanRecord) => modelOf(span) === 'claude-sonnet-4' && !span.error
    await showsRows(page, count(isMeant))
    expect(textOf(page)).toBe("metadata.model = 'claude-sonnet-4' and error is null")
  })

  test('facets count what choosing them shows, and several values of one can be chosen', async () => {
    const { page, faults, picture } = await browser.page(spansPath)
    await page.getByRole('button', { name: 'Filters' }).click()
    const facet = page.getByRole('region', { name: 'metadata.model' })
    const line = (model: string) =>
      facet.getByRole('listitem').filter({ has: page.getByText(model, { exact: true }) })
    await line('gpt-4o').waitFor()
    const told = async (model: string) => Number(await line(model).locator('.count').textContent())
    const counted = (...models: string[]) => count((span) => models.includes(String(modelOf(span))))
    await expect.poll(() => told('gpt-4o')).toBe(counted('gpt-4o'))
    await line('gpt-4o').getByRole('checkbox').click()
    await showsRows(page, counted('gpt-4o'))
    // The others are still there to choose.
    await line('claude-sonnet-4').getByRole('checkbox').click()
    await showsRows(page, counted('gpt-4o', 'claude-sonnet-4'))
    await expect.poll(() => told('claude-sonnet-4')).toBe(counted('claude-sonnet-4'))
    const errors = page.getByRole('region', { name: 'Error' })
    await errors.getByRole('checkbox', { name: /^With an error/ }).click()
    const isChosen = (span: SpanRecord) =>
      ['gpt-4o', 'claude-sonnet-4'].includes(String(modelOf(span))) && Boolean(span.error)
    await showsRows(page, count(isChosen))
    await picture('filters-facets')
    expect(await accessibilityFaults(page)).toEqual([])
    // Whoever opens the link sees the same.
    const { page: shared } = await browser.page(page.url().slice(service.url.length))
    await showsRows(shared, count(isChosen))
    const chosen = shared.getByRole('region', { name: 'metadata.model' })
    await expect.poll(() => chosen.locator('input:checked').count()).toBe(2)
    expect(faults).toEqual([])
  })

  test('of traces, a facet counts those that have such a span, and excludes all of them', async () => {
    const { page } = await browser.page(`${logs}&facets=metadata.model`)
    const traces = (isMeant: (span: SpanRecord) => boolean) =>
      new Set(spans.filter(isMeant).map(({ root_span_id }) => root_span_id)).size
    const all = traces(() => true)
    await showsRows(page, all, 'trace')
    const facet = page.getByRole('region', { name: 'metadata.model' })
    const line = facet
      .getByRole('listitem')
      .filter({ has: page.getByText('gpt-4o', { exact: true }) })
    const having = traces((span) => modelOf(span) === 'gpt-4o')
    await expect.poll(() => line.locator('.count').textContent()).toBe(String(having))
    await line.getByRole('button', { name: 'Exclude metadata.model gpt-4o' }).click()
    await showsRows(page, all - having, 'trace')
    await page.getByRole('button', { name: /Remove the filter not any_span/ }).click()
    await showsRows(page, all, 'trace')
    await line.getByRole('checkbox').click()
    await showsRows(page, having, 'trace')
  })

  test('a value of an open trace becomes a filter', async () => {
    const { page } = await browser.page(spansPath)
    await cell(page, 'gpt-4o').hover()
    await page.getByRole('button', { name: "Only metadata.model = 'gpt-4o'" }).click()
    await showsRows(
      page,
      count((span) => modelOf(span) === 'gpt-4o'),
    )
    await page.locator('tr[data-index="0"] .opens').click()
    const value = page.locator('.span [data-field="metadata"] [data-step="model"]')
    await value.hover()
    await page.getByRole('button', { name: "Without metadata.model = 'gpt-4o'" }).click()
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
    expect(textOf(page)).toContain('metadata.model is distinct from')
  })

  test('words that were searched for stay in what filters are added to', async () => {
    const { page } = await browser.page(`${spansPath}&q=errors`)
    const failed = count((span) => Boolean(span.error))
    await showsRows(page, failed)
    await expect.poll(() => chips(page).count()).toBe(1)
    await cell(page, 'gpt-4o').hover()
    await page.getByRole('button', { name: "Only metadata.model = 'gpt-4o'" }).click()
    await showsRows(
      page,
      count((span) => Boolean(span.error) && modelOf(span) === 'gpt-4o'),
    )
    expect(await chips(page).count()).toBe(2)
  })

  test('the search suggests fields, their values, what was searched before and saved views', async () => {
    await service.request('/v1/view', {
      body: {
        object_type: 'project',
        object_id: project,
        view_type: 'logs',
        name: 'Broken ones',
        view_data: { search: { filter: [{ text: 'error is not null' }] } },
        options: { queryShape: 'spans' },
      },
    })
    const { page, faults } = await browser.page(spansPath)
    const search = page.getByRole('combobox', { name: 'Search' })
    const offers = page.getByRole('listbox', { name: 'Completions' }).getByRole('option')
    await search.fill("metadata.model = 'gpt-4o'")
    await search.press('Enter')
    await page.getByRole('button', { name: 'Clear' }).click()
    await showsRows(page, spans.length)
    await search.click()
    await offers.filter({ hasText: 'searched before' }).first().waitFor()
    await offers.filter({ hasText: 'metadata.model' }).first().waitFor()
    await search.fill('metadata.model = ')
    await offers.filter({ hasText: "'gpt-4o'" }).first().waitFor()
    await search.fill('Broken')
    await offers.filter({ hasText: 'Broken ones' }).click()
    await showsRows(
      page,
      count((span) => Boolean(span.error)),
    )
    expect(faults).toEqual([])
  })
})
