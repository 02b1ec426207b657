/** Experiments in the web page, in a real browser: found, read, grouped and held against each other. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const list = '/app/default/p/arithmetic/experiments'
const exampleCount = 240

/** Run in the page: writes into the search as soon as it is there. */
const writeAtOnce = `
  const observer = new MutationObserver(() => {
    const search = document.querySelector('input[aria-label="Search"]')
    if (!search) return
    observer.disconnect()
    search.value = "metadata.model = 'small'"
    search.dispatchEvent(new Event('input', { bubbles: true }))
  })
  observer.observe(document, { childList: true, subtree: true })
`

/** Every third answer of the second experiment is worse than in the first, and every fifth better. */
function examples(experiment: number): object[] {
  return Array.from({ length: exampleCount }, (_, i) => ({
    id: `${experiment}-${i}`,
    input: { question: `What is ${i} + ${i}?` },
    output: i % 3 === 0 && experiment > 0 ? `It is not ${2 * i}, I think` : `It is ${2 * i}`,
    expected: `It is ${2 * i}`,
    metadata: { model: i % 2 === 0 ? 'small' : 'large', size: i },
    scores: { exact: scoreOf(experiment, i), style: (i % 10) / 10 },
    metrics: { start: 0, end: 1 + (i % 4), tokens: 10 + i },
    ...(i === 7 && { error: 'The model did not answer' }),
  }))
}

function scoreOf(experiment: number, i: number): number {
  if (experiment === 0) return i % 5 === 0 ? 0.5 : 1
  return i % 3 === 0 ? 0.25 * experiment : 1
}

describe.skipIf(!hasBrowser)('experiments in the page', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start()
    const project = await service.project('arithmetic')
    for (const [place, name] of ['first', 'second', 'third'].entries()) {
      const { json } = await service.request('/v1/experiment', {
        body: {
          project_id: project,
          name,
          tags: ['nightly'],
          repo_info: { commit: '4f2a91c0d1', branch: 'main', dirty: true },
        },
      })
      await service.insert('experiment', String(json.id), examples(place))
    }
    await service.project('empty')
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const cells = (page: Page, label: string, row: number) =>
    page.getByRole('table', { name: label }).locator(`tr[data-index="${row}"] td`).allInnerTexts()

  test('are listed newest first, with their scores, how these went, and what they were made of', async () => {
    const { page, faults } = await browser.page('/app/default/p/arithmetic/logs')
    await page.getByRole('link', { name: 'Experiments' }).click()
    const table = page.getByRole('table', { name: 'Experiments' })
    await table.getByText('main@4f2a91c *').first().waitFor()
    const names = table.locator('tbody strong')
    await expect.poll(() => names.allInnerTexts()).toEqual(['third', 'second', 'first'])
    await expect
      .poll(() => cells(page, 'Experiments', 2))
      .toEqual(
        expect.arrayContaining(['first', '90.0 %', '240', '1', '2.50 s', '31,080', 'nightly']),
      )
    await page.getByRole('img', { name: 'exact over 3 experiments, last 83.3 %' }).waitFor()
    expect(faults).toEqual([])
  })

  test('are found by name and sorted by a score, as the URL says', async () => {
    const { page } = await browser.page(list)
    const names = page.getByRole('table', { name: 'Experiments' }).locator('tbody strong')
    await names.first().waitFor()
    await page.getByRole('columnheader', { name: 'exact' }).getByRole('button').click()
    await expect.poll(() => names.allInnerTexts()).toEqual(['first', 'third', 'second'])
    const { page: other } = await browser.page(page.url().slice(service.url.length))
    await expect
      .poll(() => other.locator('tbody strong').allInnerTexts())
      .toEqual(['first', 'third', 'second'])
    await other.getByLabel('Find an experiment by name').fill('SEC')
    await expect.poll(() => other.locator('tbody strong').allInnerTexts()).toEqual(['second'])
  })

  test('shows the worst answers of an experiment at one click, and what is in one of them', async () => {
    const { page, faults } = await browser.page(list)
    await page.getByRole('link', { name: 'second' }).click()
    await page.getByRole('heading', { name: 'second' }).waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`${list}/second`)
    await page.getByRole('button', { name: 'Worst first: exact' }).click()
    const table = page.getByRole('table', { name: 'Examples' })
    await table.locator('tr[data-index="0"]').getByText('25.0 %').waitFor()
    await expect.poll(() => table.locator('tr[data-index]').count()).toBe(100)
    await table.locator('tr[data-index="0"]').click()
    const example = page.getByRole('region', { name: 'Example' })
    await example.getByText('It is not').first().waitFor()
    await example.getByRole('tab', { name: 'Changes from first' }).click()
    await example.locator('ins', { hasText: 'not' }).waitFor()
    await example.getByRole('tab', { name: 'Trace' }).click()
    await example.getByRole('treeitem').first().waitFor()
    await page.getByRole('button', { name: 'Close the example' }).click()
    expect(faults).toEqual([])
  })

  test('goes through the examples by hundreds', async () => {
    const { page } = await browser.page(`${list}/second`)
    const pages = page.getByRole('navigation', { name: 'Pages' })
    await pages.getByText('1 – 100 of 240 examples').waitFor()
    await pages.getByRole('link', { name: 'Next' }).click()
    await pages.getByRole('link', { name: 'Next' }).click()
    await pages.getByText('201 – 240 of 240 examples').waitFor()
    expect(await pages.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
    await page.goBack()
    await pages.getByText('101 – 200 of 240 examples').waitFor()
  })

  test('says how scores are spread and compare with the base, and finds the examples of a bar', async () => {
    const { page, faults } = await browser.page(`${list}/second`)
    const card = page.getByRole('listitem').filter({ hasText: 'exact' })
    await card.getByText('75.0 %').waitFor()
    await card.getByText('−15.0').waitFor()
    await card.getByText('32 better').waitFor()
    await card.getByText('80 worse').waitFor()
    await card.getByRole('button', { name: '20 % to 30 %: 80, 0 in the base' }).click()
    await page.getByText('80 examples', { exact: true }).waitFor()
    await expect
      .poll(() => new URL(page.url()).searchParams.get('q'))
      .toBe('scores.exact >= 0.2 and scores.exact < 0.3')
    expect(faults).toEqual([])
  })

  test('finds examples by words, and groups them by a field', async () => {
    const { page, faults } = await browser.page(`${list}/second`)
    await page.getByLabel('Search').fill('errors')
    await page.getByLabel('Search').press('Enter')
    await page.getByText('1 example', { exact: true }).waitFor()
    await page.getByLabel('Search').fill('dimensions: metadata.model | measures: count(1) as n')
    await page.getByLabel('Search').press('Enter')
    await page.getByRole('columnheader', { name: 'n', exact: true }).waitFor()
    await expect.poll(() => cells(page, 'Examples', 1)).toEqual(['small', '120'])
    await page.getByLabel('Search').fill('')
    await page.getByLabel('Search').press('Enter')
    await choose(page, 'Group by', 'metadata.model')
    const groups = page.getByRole('table', { name: 'Groups by metadata.model' })
    await groups.getByText('large').waitFor()
    await expect
      .poll(() => cells(page, 'Groups by metadata.model', 0))
      .toEqual(expect.arrayContaining(['120', '75.0 %']))
    await groups.getByRole('button', { name: 'small' }).click()
    await page.getByText('of 120 examples').waitFor()
    expect(faults).toEqual([])
  })

  test('compares chosen experiments side by side, the largest regressions first', async () => {
    const { page, faults } = await browser.page(list)
    await page.getByLabel('Choose first').check()
    await page.getByLabel('Choose second').check()
    await page.getByLabel('Choose third').check()
    // One that a busy service refuses is asked again.
    const queries = new Set<string>()
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/btql') queries.add(request.postData() ?? '')
    })
    await page.getByRole('link', { name: 'Compare' }).click()
    const summary = page.getByRole('table', { name: 'Scores side by side' })
    await summary.getByText('↓ 80').first().waitFor()
    await page.getByRole('table', { name: 'Examples side by side' }).waitFor()
    expect(queries.size, [...queries].join('\n')).toBeLessThanOrEqual(5)
    expect(await summary.getByRole('row', { name: /exact/ }).textContent()).toMatch(
      /90\.0 %.*↑ 32.*↓ 80.*−15\.0.*75\.0 %/s,
    )
    const table = page.getByRole('table', { name: 'Examples side by side' })
    const first = table.locator('tr[data-index="0"]')
    await first.getByText('−75.0').waitFor()
    await first
      .getByText(/\d tokens$/)
      .first()
      .waitFor()
    await summary.getByRole('row', { name: /^Duration/ }).waitFor()
    // One of the plot's legend is left out, for whoever opens the link, too.
    const bars = page.locator('.grouped-bars rect')
    const all = await bars.count()
    await page.getByRole('button', { name: 'third', exact: true }).click()
    await expect.poll(() => bars.count()).toBe((all * 2) / 3)
    await page.getByRole('button', { name: 'third', exact: true }).click()
    await expect.poll(() => bars.count()).toBe(all)
    await first.locator('ins').filter({ hasText: 'not' }).first().waitFor()
    // A line is shown if one of its sides is found, with all of its sides.
    await page.getByLabel('Search').fill('errors')
    await page.getByLabel('Search').press('Enter')
    await page.getByText('1 example', { exact: true }).waitFor()
    await table.getByText('What is 7 + 7?').waitFor()
    await expect.poll(() => first.locator('.bad').count()).toBe(3)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'Improved 32' }).click()
    await page.getByText('32 examples', { exact: true }).waitFor()
    await expect.poll(() => table.locator('tr[data-index]').count()).toBe(32)
    await page.getByRole('button', { name: /Regressed/ }).click()
    await page.getByText('of 80 examples').waitFor()
    await choose(page, 'Base', 'second')
    await page.getByRole('columnheader', { name: 'second (base)' }).waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`${list}/second`)
    expect(faults).toEqual([])
  })

  test('asks at once for what does not wait for one another, and for lines before counts', async () => {
    const { json } = await service.request('/v1/experiment?experiment_name=second')
    const [second] = json.objects as unknown as readonly { readonly id: string }[]
    const { page } = await browser.page('/docs')
    // None of these is answered before all of them are asked for.
    const held = new Map<string, () => void>()
    const asked: string[] = []
    await page.route(/\/v1\/(project|experiment)\?/, async (route) => {
      const { searchParams } = new URL(route.request().url())
      const about = ['project_name', 'experiment_name', 'ids'].find((name) => {
        return searchParams.has(name) && !(name === 'project_name' && searchParams.size > 1)
      })
      if (about === undefined) return route.continue()
      await new Promise<void>((resolve) => {
        held.set(about, resolve)
        if (held.size === 3) for (const release of held.values()) release()
      })
      await route.continue()
    })
    page.on('request', (request) => {
      if (new URL(request.url()).pathname !== '/btql') return
      const { query } = JSON.parse(request.postData()!) as { readonly query: string }
      asked.push(/ as (examples|scores|worst|shown_output|all_lines)/.exec(query)![1]!)
    })
    await page.goto(`${service.url}${list}/first?compare=${second!.id}`)
    await page.getByText('1 – 50 of 240 examples').waitFor()
    expect(asked).toEqual(['scores', 'worst', 'shown_output', 'examples', 'all_lines'])
  })

  test('says that the spread of a score is loading, in the room of its plot', async () => {
    const { json } = await service.request('/v1/experiment?experiment_name=second')
    const [second] = json.objects as unknown as readonly { readonly id: string }[]
    const { page, picture } = await browser.page('/docs')
    // Counts, whose answers wait here.
    const held: (() => Promise<void>)[] = []
    await page.route(/\/btql$/, async (route) => {
      if (/ as all_lines/.test(route.request().postData()!)) held.push(() => route.continue())
      else await route.continue()
    })
    const answer = async () => {
      await expect.poll(() => held.length).toBe(1)
      await held.pop()!()
    }
    await page.goto(`${service.url}${list}/first?compare=${second!.id}`)
    const figure = page.getByRole('figure')
    const loading = figure.getByRole('status')
    const plotOf = (score: string) => figure.getByRole('img', { name: `How ${score} is spread` })
    await page.getByRole('table', { name: 'Examples side by side' }).waitFor()
    await loading.getByText('Loading the spread').waitFor()
    expect(await figure.getByRole('img').count()).toBe(0)
    await picture('comparison-loading')
    const room = await figure.boundingBox()
    await answer()
    await plotOf('exact').waitFor()
    expect(await loading.count()).toBe(0)
    expect(await figure.boundingBox()).toEqual(room)
    await page.getByRole('button', { name: 'style', exact: true }).click()
    // The bars of one score are not those of another.
    await loading.waitFor()
    expect(await figure.boundingBox()).toEqual(room)
    await answer()
    await plotOf('style').waitFor()
  })

  test('keeps what is written as soon as there is something to write in', async () => {
    const { page } = await browser.page(list)
    await page.addInitScript(writeAtOnce)
    await page.goto(`${service.url}${list}/first`)
    await page.getByLabel('Search').press('Enter')
    await page.getByText('of 120 examples').waitFor()
    expect(await page.getByLabel('Search').inputValue()).toBe("metadata.model = 'small'")
  })

  test('does not say that there is nothing before it is known', async () => {
    const { json } = await service.request('/v1/experiment?experiment_name=second')
    const [second] = json.objects as unknown as readonly { readonly id: string }[]
    const { page } = await browser.page(`${list}/first?compare=${second!.id}&show=unmatched`)
    let held: (() => Promise<void>)[] | undefined
    await page.route(/\/btql$/, async (route) => {
      if (held) held.push(() => route.continue())
      else await route.continue()
    })
    /** Whether a heading is there while what is asked for after a click is on its way. */
    const isToldEarly = async (heading: string, act: () => Promise<void>) => {
      const waiting: (() => Promise<void>)[] = []
      held = waiting
      await act()
      await expect.poll(() => waiting.length).toBeGreaterThan(0)
      const isTold = await page.getByRole('heading', { name: heading }).isVisible()
      held = undefined
      for (const release of waiting) await release()
      await page.getByRole('row').nth(1).waitFor()
      return isTold
    }
    await page.getByRole('heading', { name: 'No unmatched examples' }).waitFor()
    const all = page.getByRole('button', { name: /^All/ })
    expect(await isToldEarly('No examples', () => all.click())).toBe(false)
    const search = page.getByLabel('Search')
    await page.goto(`${service.url}${list}/first`)
    await search.fill("metadata.model = 'none'")
    await search.press('Enter')
    await page.getByText('0 examples', { exact: true }).waitFor()
    await search.fill('')
    expect(await isToldEarly('No examples yet', () => search.press('Enter'))).toBe(false)
  })

  test('opens an example of a comparison with the answers of all', async () => {
    const { page } = await browser.page(list)
    await page.getByLabel('Choose first').check()
    await page.getByLabel('Choose second').check()
    await page.getByRole('link', { name: 'Compare' }).click()
    const table = page.getByRole('table', { name: 'Examples side by side' })
    await table.locator('tr[data-index="0"]').getByRole('link').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const example = page.getByRole('region', { name: 'Example', exact: true })
    await example.getByRole('region', { name: 'second' }).locator('ins').first().waitFor()
    await example.getByRole('region', { name: 'first' }).getByText('It is').first().waitFor()
  })

  test('renames, makes the baseline, and deletes after asking', async () => {
    const project = await service.project('changing')
    for (const name of ['old', 'new']) {
      const id = await service.create('experiment', project, name)
      await service.insert('experiment', id, examples(name === 'old' ? 0 : 1))
    }
    const { page, faults } = await browser.page('/app/default/p/changing/experiments')
    const names = page.getByRole('table', { name: 'Experiments' }).locator('tbody strong')
    await page.getByLabel('Choose old').check()
    await page.getByRole('button', { name: 'Make it the baseline' }).click()
    await page.locator('tr', { hasText: 'baseline' }).waitFor()
    await page.locator('tr', { hasText: 'new' }).getByText('−15.0').waitFor()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('older')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await expect.poll(() => names.allInnerTexts()).toEqual(['new', 'older'])
    await page.getByLabel('Choose new').check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => names.allInnerTexts()).toEqual(['older'])
    expect(faults).toEqual([])
  })

  test('shows hundreds of experiments, a hundred at a time', async () => {
    const project = await service.project('many')
    for (let i = 0; i < 230; i++) {
      const id = await service.create('experiment', project, `run ${i}`)
      if (i % 10 !== 0) continue
      await service.insert('experiment', id, [{ input: i, scores: { exact: i / 230 } }])
    }
    const { page } = await browser.page('/app/default/p/many/experiments')
    await page.getByRole('link', { name: 'run 229' }).waitFor()
    const status = page.getByRole('status').filter({ hasText: 'experiments' })
    await status.getByText('100 experiments').waitFor()
    await page.locator('.table-foot').scrollIntoViewIfNeeded()
    await status.getByText('200 experiments').waitFor()
    await page.getByLabel('Find an experiment by name').fill('run 1')
    await status.getByText('111 experiments').waitFor()
  })

  test('says what to do where there is nothing yet, and what is not there', async () => {
    const { page } = await browser.page('/app/default/p/empty/experiments')
    await page.getByRole('heading', { name: 'No experiments yet' }).waitFor()
    await page.getByText(`BRAINTRUST_API_URL=${service.url}`).waitFor()
    const { page: absent } = await browser.page(`${list}/absent`)
    await absent.getByRole('alert').getByText('There is no experiment "absent"').waitFor()
  })
})
