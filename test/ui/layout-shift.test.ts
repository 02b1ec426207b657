/** Nothing that one reads moves while a page loads: the sum of layout shifts, at the widths of screens. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const mostShift = 0.05
const project = '/app/default/p/support'
const widths = [1440, 1024, 390]

/** Each with what is there once all of it has come. */
const pages: readonly (readonly [path: string, last: string])[] = [
  [`${project}/home?time=7d`, '[aria-label="Cost over time"]'],
  [`${project}/logs?live=off&q=error is not null`, 'tr[data-index="0"]'],
  [`${project}/experiments`, '.score-card'],
  [`${project}/experiments/first`, '.score-card'],
  [`${project}/experiments/first?compare=SECOND`, 'tr[data-index="0"]'],
]

interface Shift {
  readonly value: number
  readonly nodes: readonly string[]
}

/** Evaluated in the page; what a person does shortly before is no shift. */
const watch = `(() => {
  window.shifts = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      const nodes = sources.map(({ node }) => node?.className || node?.nodeName || '')
      if (!hadRecentInput) window.shifts.push({ value, nodes })
    }
  }).observe({ type: 'layout-shift', buffered: true })
})()`

describe.skipIf(!hasBrowser)('while it loads', { timeout: 90_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let second: string

  beforeAll(async () => {
    service = await RunningService.start()
    const id = await service.project('support')
    const start = Date.now() - 3 * 86_400_000
    const spans = [...generateSpans({ seed: 1, count: 300, start, kind: 'logs' })]
    await service.insert('project_logs', id, spans)
    for (const name of ['first', 'second']) {
      second = await service.create('experiment', id, name)
      const examples = Array.from({ length: 40 }, (_, i) => ({
        id: `${name}-${i}`,
        input: `question ${i}`,
        output: `answer ${i} of ${name}`,
        expected: `answer ${i}`,
        scores: { Factuality: (i % 7) / 7, Relevance: (i % 3) / 3, Brevity: 1 },
        metrics: { start: 1, end: 2 + (i % 5), tokens: 100 + i },
      }))
      await service.insert('experiment', second, examples)
    }
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test.each(pages)('%s stays where it is', async (path, last) => {
    for (const width of widths) {
      const { page } = await browser.page('/docs', { width })
      await page.addInitScript(watch)
      await page.goto(service.url + encodeURI(path.replace('SECOND', second)))
      await page.locator(last).first().waitFor()
      await page.waitForLoadState('networkidle')
      const shifts = await page.evaluate<Shift[]>('window.shifts')
      const sum = shifts.reduce((total, { value }) => total + value, 0)
      const told = shifts.map(({ value, nodes }) => `${value.toFixed(3)} ${nodes.join(', ')}`)
      expect(sum, `${width} pixels wide: ${told.join('; ')}`).toBeLessThan(mostShift)
      await page.context().close()
    }
  })
})
