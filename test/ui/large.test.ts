/** The web page where there is much: a million rows, long traces, large values. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

/** Rows that a table of a test has; `ASSAY_UI_ROWS=1000000` takes some minutes. */
const rowCount = Number(process.env.ASSAY_UI_ROWS ?? 60_000)

const spanCount = 30_000
/** Of a table and a trace that are short, beside which the large ones are measured. */
const [fewRows, fewSpans] = [2000, 3000]
/** How much longer the longest task may take with all of it: what is shown at once is as much. */
const mostTimes = 2
const valueBytes = 5 * 1024 * 1024

describe.skipIf(!hasBrowser)('the web page, with much in it', { timeout: 240_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start({ ASSAY_WORKERS: '1' })
    await insertRows(service, await service.project('rows'), rowCount)
    await insertRows(service, await service.project('few-rows'), fewRows)
    await insertTrace(service, await service.project('trace'), spanCount)
    await insertTrace(service, await service.project('few-spans'), fewSpans)
    await service.insert('project_logs', await service.project('value'), [largeRecord()])
    browser = await PageBrowser.open(service)
  }, 600_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test('scrolls through all rows, by the wheel, by the bar and by keys', async () => {
    const { page, faults } = await browser.page('/app/default/p/rows/logs?rows=spans&live=off')
    await rowWith(page, rowCount - 1).waitFor()
    await page.getByRole('status').getByText(rowCount.toLocaleString('en')).waitFor()
    const table = page.locator('.table')
    await table.hover()
    for (let i = 0; i < 10; i++) await page.mouse.wheel(0, 400)
    for (const share of [0.1, 0.9, 0.5]) {
      await table.evaluate((element, to) => element.scrollTo(0, element.scrollHeight * to), share)
      await rowWith(page, rowCount - Math.round(rowCount * share) - 10).waitFor()
    }
    const { page: few } = await browser.page('/app/default/p/few-rows/logs?rows=spans&live=off')
    await rowWith(few, fewRows - 1).waitFor()
    const times = await longestTimes(
      async () => watched(page, scrollByFrames),
      async () => watched(few, scrollByFrames),
    )
    expect(times, `tasks beside those of ${fewRows} rows`).toBeLessThan(mostTimes)
    await page.locator('tr[data-index] .opens').first().focus()
    await page.keyboard.press('End')
    await rowWith(page, 0).waitFor()
    await page.keyboard.press('Home')
    await rowWith(page, rowCount - 1).waitFor()
    expect(await page.locator('tr[data-index]').count()).toBeLessThan(80)
    expect(faults).toEqual([])
  })

  test('opens a trace of 30,000 spans, and moves through it', async () => {
    const { page, faults, picture } = await browser.page('/app/default/p/trace/logs?live=off')
    const { page: few } = await browser.page('/app/default/p/few-spans/logs?live=off')
    const open = async (shown: Page, project: string, count: number) => {
      await shown.goto(`${service.url}/app/default/p/${project}/logs?live=off`)
      await shown.locator('tr[data-index="0"] .opens').waitFor()
      return watched(shown, openTrace(count))
    }
    const times = await longestTimes(
      async () => open(page, 'trace', spanCount),
      async () => open(few, 'few-spans', fewSpans),
    )
    expect(times, `tasks beside those of ${fewSpans} spans`).toBeLessThan(mostTimes)
    await page.getByRole('treeitem').first().focus()
    await page.keyboard.press('End')
    await page.getByRole('treeitem', { name: `step ${spanCount - 100}` }).waitFor()
    await page.getByLabel('Find in this trace').fill('step 12345')
    await page.getByRole('treeitem', { name: 'step 12345' }).waitFor()
    await page.getByLabel('Find in this trace').press('Enter')
    await page.getByRole('article', { name: 'Span step 12345' }).waitFor()
    expect(await page.getByRole('treeitem').count()).toBeLessThan(100)
    await picture('trace-large')
    expect(faults).toEqual([])
  })

  test('opens a record of 5 MB, cut first and whole when asked', async () => {
    const { page, faults } = await browser.page('/app/default/p/value/logs?live=off')
    await page.locator('tr[data-index="0"] .opens').click()
    const output = page.getByRole('region', { name: 'output' })
    await output
      .getByText(/more characters/)
      .first()
      .waitFor()
    await output.getByLabel('Find in output').fill('needle')
    await output.getByText('1 found').waitFor()
    await output.locator('mark', { hasText: 'needle' }).waitFor()
    await output.getByLabel('Find in output').fill('sentence at the end')
    await output.locator('mark', { hasText: 'sentence at the end' }).waitFor()
    await output.getByText(/characters before/).waitFor()
    await output.getByRole('button', { name: 'Copy' }).click()
    await output.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<number>(
      'navigator.clipboard.readText().then((t) => t.length)',
    )
    expect(copied).toBeGreaterThan(valueBytes)
    await output.getByLabel('Find in output').fill('')
    const more = output.getByText(/more characters/).first()
    const before = Number((await more.textContent())!.replace(/\D/g, ''))
    await more.click()
    await expect
      .poll(async () => Number((await more.textContent())!.replace(/\D/g, '')))
      .toBe(before - 200_000)
    expect(faults).toEqual([])
  })
})

function rowWith(page: Page, number: number) {
  return page.locator('tr[data-index]').getByText(`question ${number}`, { exact: true })
}

async function insertRows(service: RunningService, id: string, count: number): Promise<void> {
  const perRequest = 10_000
  const start = Date.parse('2026-01-01T00:00:00Z')
  for (let from = 0; from < count; from += perRequest) {
    const events = Array.from({ length: Math.min(perRequest, count - from) }, (_, i) => ({
      id: `row-${from + i}`,
      created: new Date(start + (from + i) * 1000).toISOString(),
      input: `question ${from + i}`,
      output: `answer ${from + i}`,
      metadata: { model: 'gpt-4o' },
      scores: { Factuality: ((from + i) % 100) / 100 },
      metrics: { start: 1, end: 1 + (i % 50) / 10, total_tokens: 100 + (i % 900) },
    }))
    const { status, text } = await service.insert('project_logs', id, events)
    if (status !== 200) throw new Error(text)
  }
}

/** One root with 100 children, below which there are chains. */
async function insertTrace(service: RunningService, id: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, i) => ({
    id: `span-${i}`,
    span_id: `span-${i}`,
    root_span_id: 'span-0',
    ...(i > 0 && { span_parents: [`span-${i <= 100 ? 0 : i - 100}`] }),
    span_attributes: { name: `step ${i}`, type: i % 3 === 0 ? 'llm' : 'tool' },
    metrics: { start: 1_750_000_000 + i / 100, end: 1_750_000_001 + i / 100 },
  }))
  for (let from = 0; from < events.length; from += 10_000) {
    const { status, text } = await service.insert(
      'project_logs',
      id,
      events.slice(from, from + 10_000),
    )
    if (status !== 200) throw new Error(text)
  }
}

function largeRecord() {
  const item = (i: number) => ({ place: i, text: `paragraph ${i} ${'of words '.repeat(20)}` })
  const list = Array.from({ length: 12_000 }, (_, i) => item(i))
  const text = `${'A long text. '.repeat(Math.ceil(valueBytes / 2 / 13))}The sentence at the end.`
  return { id: 'large', input: 'short', output: { text, list, end: 'the needle' } }
}

/** Opens the first trace, which has so many spans, and waits for all of them; text of a script. */
const openTrace = (count: number) => `(async () => {
  document.querySelector('tr[data-index="0"] .opens').click()
  const waitFor = async (isThere) => {
    while (!isThere()) await new Promise((resolve) => requestAnimationFrame(resolve))
  }
  await waitFor(() => document.querySelectorAll('.span-line').length > 10)
  const text = () => document.querySelector('.totals')?.textContent ?? ''
  await waitFor(() => text().includes('${count.toLocaleString('en')} spans') && !text().includes('more'))
})()`

/** Scrolls as fast as frames are drawn: through some rows, then from place to place; text of a script. */
const scrollByFrames = `(async () => {
  const table = document.querySelector('.table')
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  for (let i = 0; i < 200; i++) {
    table.scrollTop += 150
    await frame()
  }
  for (let i = 0; i < 20; i++) {
    table.scrollTop = (table.scrollHeight * ((i * 37) % 100)) / 100
    for (let rest = 0; rest < 15; rest++) await frame()
  }
})()`

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Microseconds of processor time. */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

/**
 * How many times as long the longest task takes with much as with little. A busy machine needs more of a processor for the
 * same work, so that they are measured in turns, and the least of up to three counts.
 */
async function longestTimes(
  much: () => Promise<number>,
  little: () => Promise<number>,
): Promise<number> {
  let [ofMuch, ofLittle] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let turn = 0; turn < 3 && ofMuch >= mostTimes * ofLittle; turn++) {
    ofLittle = Math.min(ofLittle, await little())
    ofMuch = Math.min(ofMuch, await much())
  }
  return ofMuch / ofLittle
}

/**
 * What the longest task of the page's main thread takes while a script runs, in milliseconds of processor time: what other
 * programs on this machine take does not count. A frame is in one of them, with scripts, styles, layout and painting.
 */
async function watched(page: Page, script: string): Promise<number> {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => {
    events.push(...(value as unknown as TraceEvent[]))
  })
  await session.send('Tracing.start', { categories: 'toplevel', transferMode: 'ReportEvents' })
  await page.evaluate(script)
  const isDone = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await isDone
  const threads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = events
    .filter(({ name, pid, tid }) => /RunTask$/.test(name) && threads.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000)
  return Math.max(...tasks)
}
