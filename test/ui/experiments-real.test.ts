/** The comparison of two models in the web page, on answers that models really gave. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesAreThere, readExperiments } from '../real-data/files.ts'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const names = ['gpt4_1106_preview', 'claude-2.1', 'gpt-3.5-turbo-1106']
const list = '/app/default/p/models/experiments'

describe.skipIf(!hasBrowser || !filesAreThere)(
  'experiments of real models in the page',
  { timeout: 120_000 },
  () => {
    let service: RunningService
    let browser: PageBrowser
    /** By experiment, win rates by input. */
    const rates = new Map<string, Map<string, number>>()

    beforeAll(async () => {
      service = await RunningService.start()
      const project = await service.project('models')
      for (const { name, events } of readExperiments()) {
        if (!names.includes(name)) continue
        await service.insert(
          'experiment',
          await service.create('experiment', project, name),
          events,
        )
        const scored = events as readonly { input: string; scores: { win_rate: number } }[]
        rates.set(name, new Map(scored.map(({ input, scores }) => [input, scores.win_rate])))
      }
      browser = await PageBrowser.open(service)
    }, 120_000)

    afterAll(async () => {
      await browser.close()
      await service.stop()
    })

    function worseThan(base: string, other: string): number {
      const before = rates.get(base)!
      return [...rates.get(other)!].filter(([input, rate]) => rate < before.get(input)!).length
    }

    test('two models stand side by side with as many regressions as there are', async () => {
      const { page, faults, picture } = await browser.page(list)
      page.setDefaultTimeout(60_000)
      await page.getByLabel('Choose gpt4_1106_preview').check()
      await page.getByLabel('Choose claude-2.1').check()
      await page.getByRole('link', { name: 'Compare' }).click()
      const worse = worseThan('gpt4_1106_preview', 'claude-2.1')
      await page.getByRole('button', { name: `Regressed ${worse}` }).click()
      await page.getByText(`1 – 50 of ${worse} examples`).waitFor()
      const summary = page.getByRole('table', { name: 'Scores side by side' })
      await summary.getByText(`↓ ${worse}`).waitFor()
      await page.locator('tr[data-index="0"]').getByText('−50.0').waitFor()
      await picture('comparison-real')
      expect(faults).toEqual([])
    })

    test('the worst answers of a model come first, and are read one after the other', async () => {
      const { page, faults, picture } = await browser.page(`${list}/claude-2.1`)
      await page.getByRole('button', { name: 'Worst first: win_rate' }).click()
      const ordered = [...rates.get('claude-2.1')!].sort(([, a], [, b]) => a - b)
      const [input, rate] = ordered[0]!
      const table = page.getByRole('table', { name: 'Examples' })
      // Hundreds have the same rate once it is rounded, also one that was first before.
      await table.locator('tr[data-index="0"]').getByText(input.slice(0, 40)).waitFor()
      await table
        .locator('tr[data-index="0"]')
        .getByText(`${(rate * 100).toFixed(1)} %`)
        .waitFor()
      await table.locator('tr[data-index="0"]').getByRole('link').press('Enter')
      await page.getByRole('region', { name: 'output' }).waitFor()
      const first = new URL(page.url()).searchParams.get('row')
      const opened = (index: number) =>
        expect
          .poll(() => table.locator(`tr[data-index="${index}"]`).getAttribute('aria-selected'))
          .toBe('true')
      await opened(0)
      // Keys that follow at once count from where the ones before led, drawn or not.
      await page.evaluate(`for (const key of 'jj') {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      }`)
      await opened(2)
      await page.keyboard.press('k')
      await page.keyboard.press('k')
      await opened(0)
      await expect.poll(() => new URL(page.url()).searchParams.get('row')).toBe(first)
      await picture('experiment-real')
      expect(faults).toEqual([])
    })
  },
)
