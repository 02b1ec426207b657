/** Logs and traces in the web page, of requests and answers that were really made. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesAreThere, readExperiments, readRequests } from '../real-data/files.ts'
import { choose, hasBrowser, type OpenPage, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService } from '../support/running-service.ts'

const models = ['gpt4_1106_preview', 'claude-2.1']

interface Answer {
  readonly input: string
  readonly output: string
  readonly scores: { readonly win_rate: number }
}

/** A trace for each prompt, with a span for the answer of each model. */
function tracesOf(answers: ReadonlyMap<string, readonly Answer[]>): object[] {
  const start = Date.parse('2024-01-01T00:00:00Z') / 1000
  return answers.get(models[0]!)!.flatMap(({ input }, i) => {
    const root = { span_id: `prompt-${i}`, root_span_id: `prompt-${i}` }
    const began = start + i * 60
    const asked = {
      ...root,
      id: root.span_id,
      created: new Date(began * 1000).toISOString(),
      span_attributes: { name: 'compare', type: 'task' },
      input,
      metrics: { start: began, end: began + 2 * models.length },
    }
    const given = models.map((model, place) => ({
      ...root,
      id: `${root.span_id}-${model}`,
      span_id: `${root.span_id}-${model}`,
      span_parents: [root.span_id],
      created: asked.created,
      span_attributes: { name: model, type: 'llm' },
      input: [{ role: 'user', content: input }],
      output: answers.get(model)![i]!.output,
      scores: answers.get(model)![i]!.scores,
      metadata: { model },
      metrics: { start: began + 2 * place, end: began + 2 * place + 2 },
    }))
    return [asked, ...given]
  })
}

const patiently = { timeout: 60_000 }

async function statusIs({ page }: OpenPage, told: string): Promise<void> {
  await expect.poll(() => page.locator('.table-foot').textContent(), patiently).toBe(told)
}

describe.skipIf(!hasBrowser || !filesAreThere)(
  'logs of real requests in the page',
  { timeout: 180_000 },
  () => {
    let service: RunningService
    let browser: PageBrowser
    let requests: Record<string, unknown>[]
    const answers = new Map<string, readonly Answer[]>()

    beforeAll(async () => {
      service = await RunningService.start()
      requests = readRequests()
      await service.insert('project_logs', await service.project('requests'), requests)
      for (const { name, events } of readExperiments()) {
        if (models.includes(name)) answers.set(name, events as unknown as Answer[])
      }
      await service.insert('project_logs', await service.project('answers'), tracesOf(answers))
      browser = await PageBrowser.open(service)
    }, 180_000)

    afterAll(async () => {
      await browser.close()
      await service.stop()
    })

    const open = async (path: string) => {
      const opened = await browser.page(`/app/default/p/${path}`)
      opened.page.setDefaultTimeout(60_000)
      return opened
    }

    test('all requests are there, and those that a condition asks for', async () => {
      const opened = await open('requests/logs?rows=spans&live=off')
      const { page, faults } = opened
      await statusIs(opened, `${requests.length.toLocaleString('en')} spans`)
      await page.getByRole('img', { name: /(traces|spans) over time/ }).waitFor()
      const isLong = ({ metrics }: Record<string, unknown>) =>
        (metrics as { prompt_tokens: number }).prompt_tokens > 7000
      await page
        .getByLabel('Search')
        .fill("metrics.prompt_tokens > 7000 and metadata.kind = 'code'")
      await page.getByLabel('Search').press('Enter')
      const found = requests.filter((each) => isLong(each) && String(each.id).startsWith('code'))
      await statusIs(opened, `${found.length.toLocaleString('en')} spans`)
      expect(faults).toEqual([])
    })

    test('answers are found by what they say, and read whole in their trace', async () => {
      const opened = await open('answers/logs?live=off')
      const { page, faults, picture } = opened
      const count = answers.get(models[0]!)!.length
      await statusIs(opened, `${count} traces`)
      await choose(page, 'Rows', 'spans')
      await page
        .getByLabel('Search')
        .fill(`metadata.model = '${models[1]}' and scores.win_rate >= 0.99`)
      await page.getByLabel('Search').press('Enter')
      const won = answers.get(models[1]!)!.filter(({ scores }) => scores.win_rate >= 0.99)
      await statusIs(opened, `${won.length} spans`)
      await page.locator('tr[data-index="0"] .opens').click()
      const answer = page.getByRole('article', { name: `Span ${models[1]}` })
      await answer.getByRole('region', { name: 'output' }).waitFor()
      expect(await page.getByRole('treeitem').count()).toBe(1 + models.length)
      await answer
        .getByRole('region', { name: 'output' })
        .getByRole('button', { name: 'Copy' })
        .click()
      await answer.getByRole('button', { name: 'Copied' }).waitFor()
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(won.map(({ output }) => output)).toContain(copied)
      expect(await accessibilityFaults(page)).toEqual([])
      await picture('trace-real')

      const shared = await open(page.url().slice(`${service.url}/app/default/p/`.length))
      await shared.page
        .getByRole('article', { name: `Span ${models[1]}` })
        .getByRole('region', { name: 'output' })
        .waitFor()
      await statusIs(shared, `${won.length} spans`)
      expect([...faults, ...shared.faults]).toEqual([])
    })
  },
)
