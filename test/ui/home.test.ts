/** A project's home in a real browser: what it counts is what the records say, and what its links show. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import type { SpanRecord } from '../../src/demo/record.ts'
import { cost, duration } from '../../src/ui/component/format.ts'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const home = '/app/default/p/support/home'
const daySeconds = 86_400

describe.skipIf(!hasBrowser)("a project's home", { timeout: 120_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let source: string
  let spans: SpanRecord[]

  beforeAll(async () => {
    service = await RunningService.start()
    const project = await service.project('support')
    source = `project_logs('${project}')`
    // Of twelve days: of the past day, the week, and what they are held against.
    const days = [12, 9, 6, 3, 1.5, 0.5]
    spans = days.flatMap((daysAgo, seed) => {
      const start = Date.now() - daysAgo * daySeconds * 1000
      return [...generateSpans({ seed, count: 250, start, kind: 'logs' })]
    })
    expect((await service.insert('project_logs', project, spans)).status).toBe(200)
    for (const [place, quality] of [0.5, 0.75].entries()) {
      const id = await service.create('experiment', project, `try ${place}`)
      await service.insert('experiment', id, [
        { id: 'a', input: 1, scores: { Factuality: quality } },
        { id: 'b', input: 2, scores: { Factuality: quality }, error: 'boom' },
      ])
    }
    await service.project('empty')
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  /** The number that a figure shows. */
  const figure = async (page: Page, title: string) => {
    const link = page.getByRole('article', { name: title, exact: true }).locator('.value a')
    return { link, text: await link.textContent() }
  }

  /** Rows that the logs count; they show no more than there are. */
  const rowsOfLogs = async (page: Page): Promise<number> => {
    const foot = page.locator('.table-foot')
    await expect.poll(() => foot.textContent()).toMatch(/^[\d,]+ (trace|span)s?$/)
    return numberOf(await foot.textContent())
  }

  /** What lies between the ends that a link of the home says. */
  const between = async (page: Page) => {
    const { link } = await figure(page, 'Traces')
    const { searchParams } = new URL((await link.getAttribute('href'))!, service.url)
    const [from, to] = searchParams.get('time')!.split('~') as [string, string]
    return {
      records: spans.filter(({ created }) => created >= from && created < to),
      condition: `created >= '${from}' and created < '${to}'`,
      seconds: (Date.parse(to) - Date.parse(from)) / 1000,
    }
  }

  const answerOf = async (query: string) => {
    const { status, json, text } = await service.query(query)
    if (status !== 200) throw new Error(text)
    return json.data as unknown as readonly Record<string, unknown>[]
  }

  test('is what a project opens with, and leads to the rows of each figure', async () => {
    const { page, faults, picture } = await browser.page('/app')
    await page.getByRole('link', { name: 'support' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe(home)
    await choose(page, 'Time', '7d')
    await page.getByRole('region', { name: 'The past week' }).waitFor()
    await expect.poll(async () => (await figure(page, 'Traces')).text).toMatch(/\d/)
    const { records, condition, seconds } = await between(page)
    expect(seconds).toBe(7 * daySeconds)
    const failed = records.filter(({ error }) => error !== undefined && error !== null)
    const traces = new Set(records.map(({ root_span_id }) => root_span_id)).size
    const { text: traceText, link: traceLink } = await figure(page, 'Traces')
    const { text: errorText, link: errorLink } = await figure(page, 'Errors')
    expect(numberOf(traceText)).toBe(traces)
    expect(numberOf(errorText)).toBe(failed.length)
    const [figures] = await answerOf(
      'measures: sum(estimated_cost()) as cost, ' +
        'percentile(metrics.end - metrics.start, 0.95) filter (where is_root) as p95\n' +
        `from: ${source}\nfilter: ${condition}`,
    )
    expect((await figure(page, 'Cost')).text).toBe(cost(Number(figures!.cost)))
    expect((await figure(page, 'Latency, p95')).text).toBe(duration(Number(figures!.p95)))
    await page.getByRole('toolbar', { name: 'Cost over time' }).waitFor()
    await picture('home-week')

    await traceLink.click()
    await page.getByRole('heading', { name: 'Logs' }).waitFor()
    expect(await rowsOfLogs(page)).toBe(traces)
    await page.goBack()
    await errorLink.click()
    await page.getByRole('heading', { name: 'Logs' }).waitFor()
    expect(await rowsOfLogs(page)).toBe(failed.length)
    expect(faults).toEqual([])
  })

  test('counts by model what the whole costs, and shows the calls of each', async () => {
    const { page, faults } = await browser.page(`${home}?time=7d`)
    const table = page.getByRole('table', { name: 'Models' })
    await table.waitFor()
    await expect.poll(async () => (await figure(page, 'Traces')).text).toMatch(/\d/)
    const { condition, records } = await between(page)
    const calls = new Map<string, number>()
    for (const { span_attributes, metadata } of records) {
      if (span_attributes.type !== 'llm') continue
      const model = String((metadata as { model?: string }).model)
      calls.set(model, (calls.get(model) ?? 0) + 1)
    }
    const lines = await table.locator('tbody tr').all()
    expect(lines.length).toBe(calls.size)
    for (const line of lines) {
      const model = await line.locator('th').textContent()
      expect(numberOf(await line.locator('td').first().textContent())).toBe(calls.get(model!))
    }
    const costs = await answerOf(
      'dimensions: metadata.model as model\nmeasures: sum(estimated_cost()) as cost\n' +
        `from: ${source}\nfilter: ${condition} and estimated_cost() is not null\nsort: cost desc`,
    )
    expect(await lines[0]!.locator('th').textContent()).toBe(costs[0]!.model)
    const first = lines[0]!.locator('td a').first()
    const shown = numberOf(await first.textContent())
    await first.click()
    expect(await rowsOfLogs(page)).toBe(shown)
    expect(faults).toEqual([])
  })

  test('shows what fails, what is slow and dear, and the trace of each', async () => {
    const { page, faults } = await browser.page(`${home}?time=7d`)
    const failing = page.getByRole('region', { name: 'Failing' }).locator('li').first()
    await failing.waitFor()
    const name = await failing.locator('a').textContent()
    const count = numberOf(await failing.locator('.value').textContent())
    const { records } = await between(page)
    const failed = records.filter((each) => each.error && each.span_attributes.name === name)
    expect(count).toBe(failed.length)
    const slowest = page.getByRole('region', { name: 'Slowest traces' }).locator('li').first()
    const lengthOf = ({ metrics }: SpanRecord) => {
      const { start, end } = metrics as unknown as { start: number; end: number }
      return end - start
    }
    const longest = Math.max(
      ...records.filter(({ span_id, root_span_id }) => span_id === root_span_id).map(lengthOf),
    )
    await expect.poll(() => slowest.locator('.value').textContent()).toBe(duration(longest))
    await failing.locator('a').click()
    expect(await rowsOfLogs(page)).toBe(count)
    await page.goBack()
    const dearest = page
      .getByRole('region', { name: 'Most expensive traces' })
      .locator('li a')
      .first()
    await dearest.click()
    await page.getByRole('region', { name: 'Trace' }).getByText('$').first().waitFor()
    expect(faults).toEqual([])
  })

  test('shows scores and the newest experiments with their change', async () => {
    const { page, faults } = await browser.page(`${home}?time=7d`)
    const table = page.getByRole('table', { name: 'Newest experiments' })
    const newest = table.locator('tbody tr').first()
    await newest.waitFor()
    expect(await newest.textContent()).toContain('try 1')
    expect(await newest.locator('.change').textContent()).toBe('+25.0')
    const scores = page.getByRole('region', { name: 'Scores' }).locator('article')
    await scores.first().waitFor()
    const name = (await scores.first().getAttribute('aria-label'))!
    const { records } = await between(page)
    const given = records.flatMap(({ scores: each }) => {
      const value = (each as Record<string, number | null> | undefined)?.[name]
      return typeof value === 'number' ? [value] : []
    })
    const mean = given.reduce((sum, value) => sum + value, 0) / given.length
    const link = scores.first().locator('.value a')
    expect(await link.textContent()).toBe(`${(mean * 100).toFixed(1)} %`)
    await link.click()
    expect(await rowsOfLogs(page)).toBe(given.length)
    await page.goBack()
    await page.getByRole('link', { name: 'try 1' }).click()
    await page.getByRole('heading', { name: 'try 1' }).waitFor()
    expect(faults).toEqual([])
  })

  test('a bar of a plot leads to the rows of its time, by pointer and by keys', async () => {
    const { page } = await browser.page(`${home}?time=7d`)
    const bars = page.getByRole('toolbar', { name: 'Errors over time' }).locator('a')
    await bars.first().focus()
    await page.keyboard.press('ArrowRight')
    const focused = bars.nth(1)
    expect(await page.locator(':focus').getAttribute('data-place')).toBe(
      await focused.getAttribute('data-place'),
    )
    const told = (await focused.getAttribute('aria-label'))!
    await page.keyboard.press('Enter')
    expect(await rowsOfLogs(page)).toBe(Number(/: ([\d,]+) /.exec(told)![1]))
  })

  test('a project where nothing was logged lately says when, and one without logs how to', async () => {
    const old = await service.project('old')
    const created = new Date(Date.now() - 20 * daySeconds * 1000).toISOString()
    await service.insert('project_logs', old, [{ id: 'a', created, input: 'then' }])
    const { page } = await browser.page('/app/default/p/old')
    await page.getByText('Nothing was logged in the past day').waitFor()
    await page.getByRole('link', { name: 'The day up to then' }).click()
    await expect.poll(async () => (await figure(page, 'Traces')).text).toBe('1')
    const { page: first } = await browser.page('/app/default/p/empty')
    await first.getByRole('heading', { name: 'No logs yet' }).waitFor()
    const { json } = await service.request('/v1/project?project_name=empty')
    const [{ id }] = json.objects as unknown as [{ id: string }]
    await service.insert('project_logs', id, [{ input: 'Hello?' }])
    await expect.poll(async () => (await figure(first, 'Traces')).text).toBe('1')
  })

  test('addresses without a section lead to the logs where they ask for rows', async () => {
    const { page } = await browser.page(
      '/app/default/p/support?q=error%20is%20not%20null&rows=spans',
    )
    await page.getByRole('heading', { name: 'Logs' }).waitFor()
    const errors = spans.filter(({ error }) => error !== undefined && error !== null).length
    expect(await rowsOfLogs(page)).toBe(errors)
  })
})

function numberOf(text: string | null): number {
  return Number(/[\d,]+/.exec(text ?? '')?.[0].replaceAll(',', ''))
}
