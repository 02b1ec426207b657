/** What goes somewhere is a link, what opens is an entry of the history, and readers are offered no changes. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const project = '/app/default/p/support'

describe.skipIf(!hasBrowser)('in the page', () => {
  let service: RunningService
  let browser: PageBrowser
  let readingKey: string

  beforeAll(async () => {
    service = await RunningService.start()
    const id = await service.project('support')
    const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }
    await service.insert('project_logs', id, [
      { id: 'root', span_id: 'root', root_span_id: 'root', input: 'Hello?', tags: ['greeting'] },
      {
        ...{ id: 'call', span_id: 'call', root_span_id: 'root', span_parents: ['root'] },
        ...{ output: 'Hello.', metadata: { model: 'gpt-4o' }, metrics: usage },
        span_attributes: { type: 'llm', name: 'model' },
      },
    ])
    for (const name of ['first', 'second']) {
      const experiment = await service.create('experiment', id, name)
      const events = [
        { id: 'e', span_id: 'e', root_span_id: 'e', input: 'one', scores: { exact: 1 } },
      ]
      await service.insert('experiment', experiment, events)
    }
    const dataset = await service.create('dataset', id, 'questions')
    await service.insert('dataset', dataset, [{ id: 'a', input: 'one', expected: '1' }])
    const invite_users = { emails: ['viewer@example.com'], group_names: ['Viewers'] }
    await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
    const { json } = await service.request('/v1/api_key', {
      body: { name: 'reading' },
      headers: { 'x-bt-impersonate-user': 'viewer@example.com' },
    })
    readingKey = String(json.key)
    browser = await PageBrowser.open(service)
  })

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const trace = (page: Page) => page.getByRole('tree', { name: 'Spans' })

  test('Back closes a trace, and is no step that does nothing', async () => {
    const { page, faults } = await browser.page('/app')
    await page.getByRole('link', { name: /support/ }).click()
    await page.getByRole('link', { name: 'Logs' }).click()
    await page.locator('tr[data-index="0"]').click()
    await trace(page).waitFor()
    await page.goBack()
    await trace(page).waitFor({ state: 'detached' })
    await page.goForward()
    await trace(page).waitFor()
    await page.getByRole('button', { name: 'Close the trace' }).click()
    await trace(page).waitFor({ state: 'detached' })
    await page.goBack()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    expect(faults).toEqual([])
  })

  test('Back closes a window, and the record of a dataset', async () => {
    const { page } = await browser.page(`${project}/datasets`)
    await page.getByRole('button', { name: 'New dataset' }).click()
    await page.getByRole('dialog').waitFor()
    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'questions' }).click()
    await page.locator('tr[data-index="0"] .open').click()
    const record = page.getByRole('region', { name: 'Record', exact: true })
    await record.waitFor()
    await page.goBack()
    await record.waitFor({ state: 'detached' })
    await expect.poll(() => new URL(page.url()).pathname).toBe(`${project}/datasets/questions`)
  })

  test.each<[path: string, name: string | RegExp, leads: RegExp]>([
    [`${project}/experiments`, 'first', /experiments\/first$/],
    [`${project}/datasets`, 'questions', /datasets\/questions$/],
    [`${project}/logs`, /\d/, /logs\?trace=root/],
    [`${project}/experiments/first`, 'one', /row=e/],
    [`${project}/datasets/questions`, /./, /row=a/],
  ])('a row of %s is a link that opens in a new tab, too', async (path, name, leads) => {
    const { page } = await browser.page(path)
    const link = page.locator('tbody').getByRole('link', { name }).first()
    await link.waitFor()
    expect(await link.getAttribute('href')).toMatch(leads)
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      link.click({ modifiers: ['Control'] }),
    ])
    await opened.waitForURL(leads)
    await expect.poll(() => page.url()).toBe(service.url + path)
  })

  test('who may only read a trace is offered no changes of it, and sees what it cost', async () => {
    const { page, faults } = await browser.page(`${project}/logs?trace=root`, { key: readingKey })
    const span = page.getByRole('article')
    await span.getByText('greeting').waitFor()
    await page.waitForLoadState('networkidle')
    expect(await span.getByRole('textbox').count()).toBe(0)
    expect(await span.getByRole('button').allInnerTexts()).not.toContain('+ Score')
    expect(await span.getByText(/^\+/).count()).toBe(0)
    expect(await span.getByRole('button', { name: /Remove the tag/ }).count()).toBe(0)
    expect(await span.getByText('Cost in all').count()).toBe(1)
    const usage = span.getByText('Cost in all').locator('..')
    expect(await usage.textContent()).toContain('$0.0075')
    await page.getByRole('treeitem').nth(1).click()
    await span.getByText('estimated cost').waitFor()
    expect(faults).toEqual([])
  })

  test('who may change a trace is offered that', async () => {
    const { page } = await browser.page(`${project}/logs?trace=root`)
    const span = page.getByRole('article')
    await span.getByRole('button', { name: '+ Score' }).waitFor()
    await span.getByRole('button', { name: 'Remove the tag greeting' }).waitFor()
    await span.getByRole('textbox', { name: 'Comment' }).waitFor()
  })
})
