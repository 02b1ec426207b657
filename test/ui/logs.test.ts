/** The web page as people use it, in a real browser: from signing in to one span of a trace. */
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { PathProxy } from '../support/path-proxy.ts'
import { RunningService, testKey } from '../support/running-service.ts'

const traces = '/app/default/p/support/logs'

/** A machine that does much else takes its time. */
const patiently = { timeout: 30_000 }

/** Where something stands, which may be drawn anew meanwhile. */
async function boxOf(locator: Locator) {
  let box: Awaited<ReturnType<Locator['boundingBox']>> = null
  await expect
    .poll(async () => {
      box = await locator.boundingBox()
      return box
    }, patiently)
    .not.toBeNull()
  return box!
}

describe.skipIf(!hasBrowser)('the web page', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let projectId: string

  beforeAll(async () => {
    service = await RunningService.start()
    projectId = await service.project('support')
    await service.project('empty')
    const start = Date.now() - 3 * 86_400_000
    const events = [...generateSpans({ seed: 1, count: 1500, start, kind: 'logs' })]
    await service.insert('project_logs', projectId, events)
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test('lets a key in, says why it does not, and lets out again', async () => {
    const { page } = await browser.page('/', { isSignedIn: false })
    await page.getByLabel('API key').fill('sk-wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('This key is not known').waitFor()
    await page.getByLabel('API key').fill(testKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  test('finds traces by words, and shows what they were taken for', async () => {
    const { page, faults, picture } = await browser.page('/app')
    await page.getByRole('link', { name: /support/ }).click()
    await page.getByRole('link', { name: 'Logs' }).click()
    await page.locator('tr[data-index="0"]').waitFor()
    await page.getByLabel('Search').fill('errors slower than 2 s')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('with an error; duration above 2 s').waitFor()
    await expect
      .poll(() => new URL(page.url()).searchParams.get('q'))
      .toBe('errors slower than 2 s')
    await page.locator('tr[data-index="0"]').waitFor()
    await page.getByLabel('Search').fill('average latency per model')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page
      .locator('th')
      .getByText('metadata.model')
      .or(page.locator('th').getByText('model'))
      .first()
      .waitFor()
    await page.locator('tr[data-index="0"]').waitFor()
    await picture('logs-groups')
    await page.getByRole('link', { name: 'Plot or export it' }).click()
    await page.getByText('metadata.model', { exact: false }).first().waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/app/default/p/support/query')
    expect(faults).toEqual([])
  })

  test('shows what was asked for last, also while rows of before are on their way', async () => {
    const { page, faults } = await browser.page(`${traces}?live=off`)
    let letGo = () => {}
    const isHeld = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/btql', async (route) => {
      const { query } = route.request().postDataJSON() as { readonly query: string }
      if (query.includes('created >=')) await isHeld
      await route.continue()
    })
    const status = page.locator('.table-foot')
    await expect.poll(() => status.textContent(), patiently).toMatch(/^\d+ traces$/)
    const all = await status.textContent()
    await choose(page, 'Time', '7d')
    await status.getByText('Loading…').waitFor()
    await choose(page, 'Time', 'all')
    await expect.poll(() => status.textContent(), patiently).toBe(all)
    letGo()
    expect(faults).toEqual([])
  })

  test('opens a trace beside the table, and a span of it, by URL as well', async () => {
    const { page, faults } = await browser.page(traces)
    await page.locator('tr[data-index="2"]').click()
    const spans = page.getByRole('treeitem')
    await spans.nth(1).click()
    await page.getByRole('region', { name: 'output' }).waitFor()
    const { page: other } = await browser.page(page.url().slice(service.url.length))
    await other.getByRole('treeitem').nth(1).and(other.locator('[aria-selected=true]')).waitFor()
    await other.getByRole('button', { name: 'Close the trace' }).click()
    await expect.poll(() => new URL(other.url()).searchParams.has('trace')).toBe(false)
    expect(faults).toEqual([])
  })

  test('loads further rows as one scrolls, keeping few in the document', async () => {
    const { page } = await browser.page(`${traces}?rows=spans`)
    await page.locator('tr[data-index="0"]').waitFor()
    const table = page.locator('.table')
    await expect
      .poll(
        async () => {
          await table.evaluate((element) => element.scrollTo(0, element.scrollHeight))
          return table.locator('.table-foot').textContent()
        },
        { timeout: 30_000 },
      )
      .toContain('1,500 spans')
    await expect.poll(() => page.locator('tr.waiting').count()).toBe(0)
    expect(await page.locator('tr[data-index]').count()).toBeLessThan(80)
  })

  test('is used with the keyboard alone', async () => {
    const { page } = await browser.page(traces)
    await page.locator('tr[data-index="0"]').waitFor()
    await page.locator('tr[data-index="0"] .opens').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('tr[data-index="2"][aria-selected=true]').waitFor()
    await page.getByRole('button', { name: 'Close the trace' }).press('Enter')
    const focused = page.locator('tr[data-index="2"] .opens:focus')
    await focused.waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('treeitem').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('tree').waitFor({ state: 'detached' })
    await focused.waitFor()
    await page.locator('body').press('/')
    await page.keyboard.type('tool calls')
    await page.keyboard.press('Enter')
    await page.getByText('spans of type tool').waitFor()
  })

  test('lets rows slide in as they are written, unless one has scrolled on', async () => {
    const { page, faults } = await browser.page(traces)
    await page.locator('tr[data-index="0"]').waitFor()
    await service.insert('project_logs', projectId, [{ id: 'late-1', input: 'just now' }])
    await page.locator('tr[data-index="0"]').getByText('just now').waitFor()
    await page.locator('.table').evaluate((element) => element.scrollTo(0, 400))
    // Until the page has seen it, one has not scrolled.
    await page.locator('tr[data-index="0"]').waitFor({ state: 'detached' })
    await service.insert('project_logs', projectId, [{ id: 'late-2', input: 'while you read' }])
    await page.getByRole('button', { name: '1 new' }).click()
    await page.locator('.table').evaluate((element) => element.scrollTo(0, 0))
    await page.locator('tr[data-index="0"]').getByText('while you read').waitFor()
    await page.getByRole('button', { name: 'Live' }).click()
    await service.insert('project_logs', projectId, [{ id: 'late-3', input: 'not seen' }])
    await expect.poll(() => new URL(page.url()).searchParams.get('live')).toBe('off')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.locator('tr[data-index="0"]').getByText('not seen').waitFor()
    expect(faults).toEqual([])
  })

  test('is left while it connects, and says nothing of that', async () => {
    const { page, faults } = await browser.page('/app/default/p/support/datasets')
    const connecting = page.evaluate(`new Promise((resolve) => {
      const Socket = window.WebSocket
      window.WebSocket = class extends Socket {
        constructor(url) {
          super(url)
          setTimeout(() => document.querySelector('nav a[href$="/datasets"]').click())
          this.addEventListener('close', () => resolve())
        }
      }
    })`)
    await page.getByRole('link', { name: 'Logs' }).click()
    await connecting
    await page.getByRole('heading', { name: 'Datasets', exact: true }).waitFor()
    expect(faults).toEqual([])
  })

  test('offers what may follow, and says where a query is wrong', async () => {
    const { page, faults, picture } = await browser.page(traces)
    const input = page.getByLabel('Search')
    await input.pressSequentially('metadata.mod')
    await page.getByRole('option', { name: 'metadata.model' }).waitFor()
    await picture('search-completion')
    await input.press('ArrowDown')
    await input.press('Enter')
    expect(await input.inputValue()).toBe('metadata.model')
    await input.fill("metadata.model = 'gpt-4o' and scoers.Factuality > 0.5")
    await input.press('Enter')
    await page.locator('.fault-mark', { hasText: 'scoers' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await picture('search-fault')
    await page.getByRole('button', { name: 'Show the query' }).click()
    await page.getByLabel('The query that the words became').fill('metadata.model is not null')
    await page.getByRole('button', { name: 'Run this query' }).click()
    await page.getByText('run as written').waitFor()
    expect(faults).toEqual([])
  })

  test('marks what was looked for, and narrows to a tag', async () => {
    const { page, faults } = await browser.page(`${traces}?q=${encodeURIComponent('"invoice"')}`)
    await page.locator('tr[data-index] mark').first().waitFor()
    await choose(page, 'Order', 'relevance')
    await page.locator('tr[data-index="0"] mark').first().waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('order')).toBe('relevance')
    const { page: other } = await browser.page(
      `${traces}?q=${encodeURIComponent('tags is not null')}`,
    )
    const tag = other.locator('tr[data-index] .tag').first()
    const name = await tag.textContent()
    await other.getByLabel('Search').fill('')
    await other.getByRole('button', { name: 'Search', exact: true }).click()
    await other.locator('tr[data-index] .tag', { hasText: name! }).first().click()
    await other.getByText('Understood as').waitFor()
    await expect.poll(() => new URL(other.url()).searchParams.get('q')).toBe(`+${name}`)
    expect(faults).toEqual([])
  })

  test('chooses, moves, widens and sorts by columns, and keeps them as a view', async () => {
    const { page, faults, picture } = await browser.page(`${traces}?columns=created,input,duration`)
    await page.locator('tr[data-index="0"]').waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Cost' }).check()
    await picture('columns')
    await page.keyboard.press('Escape')
    const titles = () =>
      page.locator('th[data-column]').evaluateAll((all) => {
        return all.map((each) => each.getAttribute('data-column'))
      })
    await expect.poll(async () => (await titles()).at(-1)).toBe('cost')
    await page.locator('th[data-column=cost] button').focus()
    await page.keyboard.press('Shift+ArrowLeft')
    await expect.poll(async () => (await titles()).at(-2)).toBe('cost')
    await page.locator('th[data-column=cost] button').press('+')
    await page.locator('th[data-column=cost]').dragTo(page.locator('th[data-column=input]'))
    await expect.poll(async () => (await titles()).join()).toContain('cost,input')
    await page.locator('th[data-column=cost] button').click()
    await page.locator('th[data-column=cost][aria-sort=descending]').waitFor()
    const grip = await boxOf(page.locator('th[data-column=created] .grip'))
    await page.mouse.move(grip.x + 3, grip.y + 5)
    await page.mouse.down()
    await page.mouse.move(grip.x + 43, grip.y + 5)
    await page.mouse.up()
    await expect.poll(() => new URL(page.url()).searchParams.get('widths')).toContain('created:180')

    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('button', { name: 'Save as a new view…' }).click()
    await page.getByLabel('Name', { exact: true }).fill('dearest first')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'View: dearest first' }).waitFor()
    const id = new URL(page.url()).searchParams.get('view')
    const { page: shared } = await browser.page(`${traces}?view=${id}`)
    await shared.locator('th[data-column=cost][aria-sort=descending]').waitFor()
    await expect
      .poll(() => new URL(shared.url()).searchParams.get('widths'))
      .toContain('created:180')
    await choose(shared, 'Rows', 'spans')
    await shared.getByRole('button', { name: 'View: dearest first *' }).click()
    await shared.getByRole('button', { name: 'Save the changes' }).click()
    await shared.getByText('Saved the view').waitFor()
    await shared.getByRole('button', { name: 'View: dearest first' }).click()
    await shared.getByRole('button', { name: 'Rename the view' }).click()
    await shared.getByLabel('Name', { exact: true }).fill('dear')
    await shared.getByRole('button', { name: 'Rename', exact: true }).click()
    await shared.getByRole('button', { name: 'View: dear' }).click()
    await shared.getByRole('button', { name: 'Delete the view dear' }).click()
    await shared.getByRole('button', { name: 'Delete', exact: true }).click()
    await shared.getByRole('button', { name: 'Views' }).waitFor()
    expect(faults).toEqual([])
  })

  test('zooms in time by keys and by pointer, and out again', async () => {
    const { page, faults } = await browser.page(traces)
    await page.getByRole('img', { name: /(traces|spans) over time/ }).waitFor()
    const status = page.locator('.table-foot')
    await expect.poll(() => status.textContent(), patiently).toMatch(/^\d+ traces$/)
    const all = Number.parseInt((await status.textContent())!, 10)
    const box = await boxOf(page.locator('.u-over'))
    await page.mouse.move(box.x + 1, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.02, box.y + 20, { steps: 4 })
    await page.mouse.up()
    await expect.poll(() => new URL(page.url()).searchParams.get('time')).toContain('~')
    await expect
      .poll(async () => Number.parseInt((await status.textContent())!, 10), patiently)
      .toBeLessThan(all)
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.getByRole('button', { name: 'Earlier' }).press('Escape')
    await expect.poll(() => new URL(page.url()).searchParams.has('time')).toBe(false)
    await expect
      .poll(async () => Number.parseInt((await status.textContent())!, 10), patiently)
      .toBe(all)
    await choose(page, 'Time', '7d')
    await expect.poll(() => new URL(page.url()).searchParams.get('time')).toBe('7d')
    expect(faults).toEqual([])
  })

  test('goes on to the next and the previous row while one is open', async () => {
    const { page, faults, picture } = await browser.page(`${traces}?live=off`)
    await page.locator('tr[data-index="1"]').click()
    await page.getByRole('treeitem').first().waitFor()
    await page.locator('body').press('j')
    await page.locator('tr[data-index="2"][aria-selected=true]').waitFor()
    await page.getByRole('button', { name: 'Previous row' }).click()
    await page.locator('tr[data-index="1"][aria-selected=true]').waitFor()
    await page.getByRole('button', { name: 'Full page' }).click()
    expect(await page.locator('.table').isVisible()).toBe(false)
    await picture('trace-wide')
    await page.getByRole('button', { name: 'Full page' }).click()
    const edge = page.getByRole('separator', { name: 'Width of the table' })
    await edge.press('ArrowLeft')
    await expect.poll(() => new URL(page.url()).searchParams.get('split')).toBe('40')
    expect(faults).toEqual([])
  })

  test('says what to do where there is nothing yet', async () => {
    const { page } = await browser.page('/app/default/p/empty/logs')
    await page.getByRole('heading', { name: 'No logs yet' }).waitFor()
    await page.getByText(`BRAINTRUST_API_URL=${service.url}`).waitFor()
    const { page: absent } = await browser.page('/app/default/p/absent/logs')
    await absent.getByRole('alert').getByText('There is no project "absent"').waitFor()
  })
})

test('the page takes nothing from elsewhere and runs no inline code', async () => {
  const service = await RunningService.start()
  const { headers, text } = await service.request('/app/any/p/where', { key: null })
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(text).not.toMatch(/https?:\/\//)
  expect(text).toContain('<base href="/"')
  for (const [, file] of text.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)) {
    const answer = await service.request(`/${file}`, { key: null })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toContain('immutable')
  }
  expect((await service.request('/assets/..%2Findex.html', { key: null })).status).toBe(404)
  await service.stop()
})

describe.skipIf(!hasBrowser)('the web page below a path of a proxy', () => {
  test('lets one sign in, and shows new rows as they come', { timeout: 60_000 }, async () => {
    const proxy = await PathProxy.start('/assay')
    const service = await RunningService.start({ ASSAY_PUBLIC_URL: proxy.url })
    proxy.serve(service.url)
    const project = await service.project('support')
    await service.insert('project_logs', project, [{ id: 'a', input: 'first' }])
    const browser = await PageBrowser.open(service)
    const { page } = await browser.page('/ping', { isSignedIn: false })
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(response.url())
    })
    await page.goto(`${proxy.url}/app`)
    await page.getByLabel('API key').fill(testKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: /support/ }).click()
    await page.getByRole('link', { name: 'Logs' }).click()
    await page.locator('tr[data-index="0"]').getByText('first').waitFor()
    await expect.poll(() => page.url()).toBe(`${proxy.url}/app/default/p/support/logs`)
    await service.insert('project_logs', project, [{ id: 'b', input: 'second' }])
    await page.locator('tr[data-index="0"]').getByText('second').waitFor()
    // Nobody was signed in at first.
    expect(refused).toEqual([`${proxy.url}/session`])
    await browser.close()
    await proxy.stop()
    await service.stop()
  })
})
