/** Every page at the widths of screens, in both themes: nothing that one reads moves while it loads, and everybody can read it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService } from '../support/running-service.ts'

const mostShift = 0.05
const project = '/app/default/p/support'
const views = [
  { width: 1440, theme: 'light' },
  { width: 1024, theme: 'light' },
  { width: 390, theme: 'dark' },
] as const

/** Each with what is there once all of it has come. */
const pages: readonly (readonly [path: string, last: string])[] = [
  [`${project}/home?time=7d`, '[aria-label="Cost over time"]'],
  [`${project}/logs?live=off&q=error is not null`, 'tr[data-index="0"]'],
  [`${project}/experiments`, '.score-card'],
  [`${project}/experiments/first`, '.score-card'],
  [`${project}/experiments/first?compare=SECOND`, 'tr[data-index="0"]'],
  [`${project}/logs?live=off&trace=FIRST_TRACE&with=SECOND_TRACE`, '.pair-lines tbody tr'],
  [`${project}/datasets`, 'tr[data-index="0"]'],
  [`${project}/datasets/questions`, 'tr[data-index="0"]'],
  [`${project}/review`, '.list-table tbody tr'],
  [`${project}/review/QUEUE?tab=results`, '.review-results tbody tr'],
  ['/app/default/settings?tab=members', '.list-table tbody tr'],
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
  const places = new Map<string, string>()

  beforeAll(async () => {
    service = await RunningService.start()
    const id = await service.project('support')
    const start = Date.now() - 3 * 86_400_000
    const spans = [...generateSpans({ seed: 1, count: 300, start, kind: 'logs' })]
    await service.insert('project_logs', id, spans)
    const roots = spans.filter(({ span_id, root_span_id }) => span_id === root_span_id)
    places.set('FIRST_TRACE', roots[0]!.root_span_id).set('SECOND_TRACE', roots[1]!.root_span_id)
    for (const name of ['first', 'second']) {
      const experiment = await service.create('experiment', id, name)
      places.set('SECOND', experiment)
      const examples = Array.from({ length: 40 }, (_, i) => ({
        id: `${name}-${i}`,
        input: `question ${i}`,
        output: `answer ${i} of ${name}`,
        expected: `answer ${i}`,
        scores: { Factuality: (i % 7) / 7, Relevance: (i % 3) / 3, Brevity: 1 },
        metrics: { start: 1, end: 2 + (i % 5), tokens: 100 + i },
      }))
      await service.insert('experiment', experiment, examples)
    }
    const dataset = await service.create('dataset', id, 'questions')
    await service.insert('dataset', dataset, [{ id: 'a', input: 'one', expected: '1' }])
    places.set('QUEUE', await reviewQueue(id, [roots[0]!.id, roots[1]!.id]))
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  /** Of two records, of which one is answered. */
  async function reviewQueue(project: string, records: readonly string[]): Promise<string> {
    const score = { project_id: project, name: 'tone', score_type: 'slider' }
    await service.request('/v1/project_score', { body: score })
    const review = { object_type: 'project_logs', object_id: project, records, scores: ['tone'] }
    const { json } = await service.request('/v1/view', {
      body: {
        ...{ object_type: 'project', object_id: project, view_type: 'for_review_project_log' },
        ...{ name: 'answers', view_data: { review } },
      },
    })
    const given = { queue_id: String(json.id), answers: { tone: 0.5 } }
    await service.insert('project_logs', project, [
      { id: records[0], _is_merge: true, _audit_source: 'app', _audit_metadata: { review: given } },
    ])
    return given.queue_id
  }

  test.each(pages)('%s stays where it is', async (path, last) => {
    const address = path.replace(/[A-Z]{2,}(?:_[A-Z]+)?/g, (name) => places.get(name)!)
    await Promise.all(
      views.map(async ({ width, theme }) => {
        const { page, picture } = await browser.page('/docs', { width, theme })
        await page.addInitScript(watch)
        await page.goto(service.url + encodeURI(address))
        await page.locator(last).first().waitFor()
        await page.waitForLoadState('networkidle')
        const shifts = await page.evaluate<Shift[]>('window.shifts')
        const sum = shifts.reduce((total, { value }) => total + value, 0)
        const told = shifts.map(({ value, nodes }) => `${value.toFixed(3)} ${nodes.join(', ')}`)
        expect(sum, `${width} pixels wide: ${told.join('; ')}`).toBeLessThan(mostShift)
        const beyond = await page.evaluate<number>('document.documentElement.scrollWidth')
        expect(beyond).toBeLessThanOrEqual(width)
        if (width !== 1024) expect(await accessibilityFaults(page), theme).toEqual([])
        await picture(`shift-${pages.findIndex(([each]) => each === path)}-${width}`)
        await page.context().close()
      }),
    )
  })
})
