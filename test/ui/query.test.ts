/** The query page as people use it, in a real browser: written, run, shown, saved and taken away. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateSpans } from '../../src/demo/generate.ts'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { PathProxy } from '../support/path-proxy.ts'
import { RunningService, testKey } from '../support/running-service.ts'

const path = '/app/default/p/support/query'

/** An address that shows what a query comes to. */
function shows(query: string, more: Record<string, string> = {}): string {
  return `${path}?${new URLSearchParams({ q: query, ...more })}`
}

/** Takes the place of what is written in the editor. */
async function write(page: Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Query' })
  await editor.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

describe.skipIf(!hasBrowser)('the query page', { timeout: 180_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start()
    const project = await service.project('support')
    for (const daysAgo of [3, 2, 1]) {
      const start = Date.now() - daysAgo * 86_400_000
      const events = [...generateSpans({ seed: daysAgo, count: 600, start, kind: 'logs' })]
      await service.insert('project_logs', project, events)
    }
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test('begins with an example, which is a plot by its address', async () => {
    const { page, faults } = await browser.page(path)
    await page.getByRole('button', { name: /Latency per model by day/ }).click()
    await page.locator('.lines canvas').waitFor()
    const label = await page.getByRole('img', { name: /latency by day/ }).getAttribute('aria-label')
    expect(label).toMatch(/latency by day: .*gpt-4o/)
    const { page: shared } = await browser.page(page.url().slice(service.url.length))
    await shared.locator('.lines canvas').waitFor()
    await choose(shared, 'X axis', 'model')
    await shared.getByRole('table', { name: 'latency by model' }).waitFor()
    await expect.poll(() => new URL(shared.url()).searchParams.get('x')).toBe('model')
    await page.getByRole('tab', { name: 'Table' }).click()
    await page.locator('tr[data-index="0"]').click()
    await page.getByRole('region', { name: 'Row 1' }).waitFor()
    expect(faults).toEqual([])
  })

  test('runs what names no project on its own, and completes its fields', async () => {
    const { page, faults } = await browser.page(
      shows('measures: count(1) as spans | from: project_logs()'),
    )
    await page.locator('tr[data-index="0"]').waitFor()
    await page.getByText('spans').first().waitFor()
    expect(faults).toEqual([])
    const { page: empty, faults: others } = await browser.page(path)
    await write(empty, 'select: id\nfrom: project_logs()\nfilter: metadata.mod')
    await empty.keyboard.press('Control+Space')
    await empty.getByRole('option', { name: 'metadata.model' }).waitFor()
    expect(others).toEqual([])
  })

  test('completes what is written, and runs it with the keyboard alone', async () => {
    const { page, faults } = await browser.page(path)
    const editor = page.getByRole('textbox', { name: 'Query' })
    await editor.waitFor()
    await write(page, "select: id\nfrom: project_logs('support')\nfilter: metadata.mod")
    await page.keyboard.press('Control+Space')
    await page.getByRole('option', { name: 'metadata.model' }).waitFor()
    // A list that has just opened does not take Enter, which may have been meant for the text.
    await page.waitForTimeout(300)
    await page.keyboard.press('Enter')
    await page.locator('.cm-content').getByText('metadata.model').waitFor()
    await page.keyboard.insertText(" = 'gpt-4o'\nlimit: 7")
    await page.keyboard.press('Control+Enter')
    await page.locator('.result-head').getByText('7 rows').waitFor()
    await expect
      .poll(() => new URL(page.url()).searchParams.get('q'))
      .toContain("metadata.model = 'gpt-4o'")
    expect(faults).toEqual([])
  })

  test('shows faults while one types, with their places and the way out', async () => {
    const { page } = await browser.page(path)
    await page.getByRole('textbox', { name: 'Query' }).waitFor()
    await write(page, "select: id\nfrom: project_logs('support')\nfilter: scroes.x > 1")
    const problem = page.getByRole('list', { name: 'Problems' }).getByRole('button').first()
    await problem.getByText('unknown field "scroes"').waitFor()
    await problem.getByText('3:9').waitFor()
    await problem.getByText('did you mean').waitFor()
    await page.locator('.cm-lintRange-error').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('alert').getByText('the query has 1 error').waitFor()
    expect(await page.getByText('unknown field "scroes"').count()).toBe(1)
    await problem.click()
    await page.keyboard.insertText('scores.Factuality')
    await problem.getByText('unknown field "scroes"').waitFor({ state: 'detached' })
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([''])
    await page.keyboard.press('Control+Enter')
    await page.locator('.result-head').getByText('row').waitFor()
  })

  test('tells the faults of a query that a link leads to once, whatever is checked first', async () => {
    const { page, faults } = await browser.page(shows('select: id | from: nowhere('))
    await page.getByRole('alert').getByText('the query has 1 error').waitFor()
    const problems = page.getByRole('list', { name: 'Problems' })
    expect(await problems.getByRole('listitem').count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('loads rows by the page, all of the query and no more', async () => {
    const query = "select: id, created\nfrom: project_logs('support')\nlimit: 450"
    const { page, faults } = await browser.page(shows(query))
    await page.locator('.result-head').getByText('200 rows and more').waitFor()
    await expect
      .poll(async () => {
        await page.locator('.table').evaluate((table) => table.scrollTo(0, table.scrollHeight))
        return page.locator('.result-head').textContent()
      })
      .toContain('450 rows ·')
    expect(faults).toEqual([])
  })

  test('says where the page is full, and goes on if it is told to', async () => {
    const project = await service.project('many')
    const rows = Array.from({ length: 20_500 }, (_, n) => ({ metadata: { n } }))
    for (let at = 0; at < rows.length; at += 5000) {
      await service.insert('project_logs', project, rows.slice(at, at + 5000))
    }
    const query = `dimensions: metadata.n as n\nmeasures: count(1) as m\nfrom: project_logs('${project}')`
    const { page, faults } = await browser.page(shows(query))
    const full = page.getByText('The first 20,000 rows are here')
    await page.locator('.result-head').getByText('1,000 rows and more').waitFor()
    await expect
      .poll(
        async () => {
          await page.locator('.table').evaluate((table) => table.scrollTo(0, table.scrollHeight))
          return full.isVisible()
        },
        { timeout: 150_000 },
      )
      .toBe(true)
    await page.getByRole('button', { name: 'Export all rows' }).waitFor()
    await page.getByRole('button', { name: 'Load 20,000 more' }).click()
    await page.locator('.result-head').getByText('20,500 rows ·').waitFor()
    await full.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('prints a query in both languages, and asks before it loses comments', async () => {
    const { page } = await browser.page(path)
    await page.getByRole('textbox', { name: 'Query' }).waitFor()
    await write(page, "-- mine\nfrom: project_logs('support') | select:   id | limit:3")
    await page.getByRole('button', { name: 'Format' }).click()
    await page.getByRole('menuitem', { name: 'As SQL' }).click()
    await page.getByText('The comments would be lost').waitFor()
    await page.getByText('-- mine').waitFor()
    await page.getByRole('button', { name: 'Format without them' }).click()
    await page.locator('.cm-content').getByText('SELECT id').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('textbox', { name: 'Query' }).press('Control+Enter')
    await page.locator('.result-head').getByText('3 rows').waitFor()
  })

  test('keeps long queries in the address, too', async () => {
    const ids = Array.from({ length: 300 }, (_, i) => `'no such id ${i}'`).join(', ')
    const query = `measures: count(1) as n\nfrom: project_logs('support')\nfilter: id in [${ids}]`
    const { page, faults } = await browser.page(path)
    await page.getByRole('textbox', { name: 'Query' }).waitFor()
    await write(page, query)
    await page.keyboard.press('Control+Enter')
    await page.locator('.result-head').getByText('1 row ·').waitFor()
    const { page: shared } = await browser.page(page.url().slice(service.url.length))
    await shared.locator('.result-head').getByText('1 row ·').waitFor()
    await shared.getByText('no such id 0').first().waitFor()
    expect(faults).toEqual([])
  })

  test('tells what each step and operator did', async () => {
    const query =
      "dimensions: metadata.model as m\nmeasures: count(1) as n\nfrom: project_logs('support')"
    const { page, faults } = await browser.page(shows(query, { show: 'log' }))
    const operators = page.getByRole('table', { name: 'Operators of the query' })
    await operators.getByRole('row', { name: /scan/ }).waitFor()
    await page.getByRole('table', { name: 'Steps of the query' }).getByText('plan').waitFor()
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.getByRole('region', { name: 'Rows' }).getByText('gpt-4o').first().waitFor()
    expect(faults).toEqual([])
  })

  test('remembers what was run, and saves queries for all of the project', async () => {
    const query = "measures: count(1) as total\nfrom: project_logs('support')"
    const { page, faults } = await browser.page(shows(query))
    await page.locator('.result-head').getByText('1 row ·').waitFor()
    await page.getByRole('button', { name: 'Saved' }).click()
    await page.getByLabel('Save the query in the editor as').fill('How many')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as “How many”').waitFor()
    const id = new URL(page.url()).searchParams.get('saved')
    const { page: other } = await browser.page(`${path}?saved=${id}`)
    await other.locator('.result-head').getByText('1 row ·').waitFor()
    await other.getByText('as total').first().waitFor()
    await write(other, 'select: 1')
    await page.getByRole('button', { name: 'History' }).click()
    await page.getByRole('dialog', { name: 'History' }).getByText('as total').click()
    await page.getByRole('button', { name: 'Saved' }).click()
    await page.getByRole('button', { name: 'Delete How many' }).click()
    await page.getByText('None yet').waitFor()
    expect(faults).toEqual([])
  })

  test('downloads all rows in each format, not only those that are shown', async () => {
    const query = "select: id, input\nfrom: project_logs('support')"
    const { page, faults } = await browser.page(shows(query))
    await page.locator('.result-head').getByText('200 rows and more').waitFor()
    for (const [title, ending, check] of [
      ['CSV', 'csv', (bytes: Buffer) => bytes.toString().startsWith('id,input\r\n')],
      ['JSON lines', 'jsonl', (bytes: Buffer) => bytes.toString().trim().split('\n').length],
      ['JSON', 'json', (bytes: Buffer) => JSON.parse(bytes.toString()).data.length],
      ['Parquet', 'parquet', (bytes: Buffer) => bytes.subarray(0, 4).toString() === 'PAR1'],
      ['Arrow', 'arrows', (bytes: Buffer) => bytes.length > 1000],
    ] as const) {
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByRole('menuitem', { name: new RegExp(`^${title}(?! lines)`) }).click()
      const download = await saved
      expect(download.suggestedFilename()).toMatch(new RegExp(`^assay-.*\\.${ending}$`))
      const found = check(readFileSync(await download.path()))
      expect(found, title).toBe(typeof found === 'number' ? 1800 : true)
    }
    expect(faults).toEqual([])
  })

  test('gives lines to paste that run as they are', async () => {
    // Quotes, signs of shells, templates and escapes, a script without an alphabet, and the page's own project.
    const placeholder = ['$', '{x}'].join('')
    const word = `it''s "$HOME" \`id\` ${placeholder} \\\\ 你好`
    const query = `select: '${word}' as word -- why not\nfrom: project_logs()\nlimit: 1`
    const { page, faults } = await browser.page(shows(query))
    await page.locator('.result-head').getByText('1 row ·').waitFor()
    await page.getByRole('button', { name: 'Copy as…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Run it elsewhere' })
    const folder = mkdtempSync(join(tmpdir(), 'assay-code-'))
    const env = { ...process.env, ASSAY_API_KEY: testKey, NODE_OPTIONS: '' }
    const run = async (program: string, ...given: string[]) =>
      (await promisify(execFile)(program, given, { env })).stdout
    const expected = `it's "$HOME" \`id\` ${placeholder} \\ 你好`
    for (const form of ['curl', 'TypeScript', 'Python']) {
      await dialog.getByRole('tab', { name: form }).click()
      await dialog.getByRole('button', { name: 'Copy' }).click()
      await dialog.getByRole('button', { name: 'Copied' }).waitFor()
      const code = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(code).toBe(await dialog.locator('pre').textContent())
      if (form === 'curl' && hasProgram('curl')) {
        const answer = JSON.parse(await run('bash', '-c', code)) as { data: unknown }
        expect(answer.data).toEqual([{ word: expected }])
      } else if (form === 'TypeScript') {
        const file = join(folder, 'query.mts')
        writeFileSync(file, code)
        const loader = new URL('../support/typescript-loader.js', import.meta.url).href
        expect(await run(process.execPath, '--import', loader, file)).toContain('你好')
      } else if (form === 'Python' && hasProgram('python3')) {
        const file = join(folder, 'query.py')
        writeFileSync(file, `${code}assert rows == [{"word": ${JSON.stringify(expected)}}]\n`)
        expect(await run('python3', file)).toContain('word')
      }
    }
    rmSync(folder, { recursive: true })
    expect(faults).toEqual([])
  })

  test('tells how far it is, and can be left', async () => {
    const { page, faults } = await browser.page(path)
    await page.getByRole('textbox', { name: 'Query' }).waitFor()
    let isClosed = false
    // As if the query took long: the service's answer does not arrive, only how far it is.
    await page.routeWebSocket(/\/btql\/stream$/, (socket) => {
      const service = socket.connectToServer()
      service.onMessage(() => {
        socket.send(JSON.stringify({ type: 'progress', rows_read: 500, rows_to_read: 2000 }))
      })
      socket.onClose(() => {
        isClosed = true
        service.close()
      })
    })
    await write(page, "measures: count(1) as n\nfrom: project_logs('support')")
    await page.keyboard.press('Control+Enter')
    await page.getByText('500 of 2,000 rows read').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).first().click()
    await page.getByRole('heading', { name: 'Cancelled' }).waitFor()
    await expect.poll(() => isClosed).toBe(true)
    await page.unrouteAll()
    expect(faults).toEqual([])
  })

  test('is reached and left by keys', async () => {
    const { page, faults } = await browser.page('/app/default/p/support/logs')
    await page.locator('tr[data-index="0"]').waitFor()
    // The window has the focus before another key can be read, however busy the browser is.
    const takesLetters = await page.evaluate(`(async () => {
      document.body.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true, cancelable: true }))
      await new Promise((resolve) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = resolve; port2.postMessage(0) })
      return document.activeElement.getAttribute('aria-label')
    })()`)
    expect(takesLetters).toBe('Go to')
    await page.keyboard.type('support query')
    await page.getByRole('option', { name: 'Query support', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Ask something').waitFor()
    await page.getByRole('heading', { name: 'Query' }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Query' }).click()
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.getByRole('button', { name: 'Skip to the content' }).press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
    expect(faults).toEqual([])
  })
})

describe.skipIf(!hasBrowser)('the query page below a path of a proxy', { timeout: 180_000 }, () => {
  test('runs queries, and downloads what they come to', async () => {
    const proxy = await PathProxy.start('/assay')
    const service = await RunningService.start({ ASSAY_PUBLIC_URL: proxy.url })
    proxy.serve(service.url)
    await service.insert('project_logs', await service.project('support'), [{ id: 'a' }])
    const browser = await PageBrowser.open(service)
    const { page, faults } = await browser.page('/ping', { isSignedIn: false })
    const query = "select: id\nfrom: project_logs('support')"
    await page.goto(proxy.url + shows(query))
    await page.getByLabel('API key').fill(testKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('.result-head').getByText('1 row ·').waitFor()
    // Until then nobody was signed in, and the browser looked for an icon outside of the path.
    const atFirst = faults.length
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: /^CSV/ }).click()
    expect(readFileSync(await (await saved).path(), 'utf8')).toBe('id\r\na\r\n')
    await page.getByRole('button', { name: 'Copy as…' }).click()
    await page.getByRole('dialog').getByText(`curl '${proxy.url}/btql'`).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to' }).fill('members')
    await page.getByRole('option', { name: /Members/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /owner/ }).waitFor()
    await expect.poll(() => page.url()).toBe(`${proxy.url}/app/default/settings?tab=members`)
    expect(faults.slice(atFirst)).toEqual([])
    await browser.close()
    await proxy.stop()
    await service.stop()
  })
})

function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
