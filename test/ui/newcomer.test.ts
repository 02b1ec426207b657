/** What somebody finds who runs the demonstration, opens the link that it prints, and has read nothing. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spawnAssay } from '../support/assay-process.ts'
import { hasBrowser, type OpenPage, PageBrowser } from '../support/browser.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const minutes = 60_000

describe.skipIf(!hasBrowser)('somebody new', () => {
  let directory: string
  let demo: ChildProcess
  let browser: PageBrowser
  let opened: OpenPage
  let page: Page

  beforeAll(async () => {
    directory = await makeTemporaryDirectory('newcomer')
    demo = spawnAssay(['demo', '--port', '0', '--data-dir', directory])
    const link = await linkIn(demo)
    browser = await PageBrowser.open({ url: link.origin })
    opened = await browser.page(link.pathname + link.hash, { isSignedIn: false, isKept: true })
    page = opened.page
    page.setDefaultTimeout(2 * minutes)
  }, 10 * minutes)

  afterAll(async () => {
    await browser.close()
    demo.kill('SIGTERM')
    if (demo.exitCode === null) await once(demo, 'close')
    await rm(directory, { recursive: true })
  })

  const goTo = (section: string) => {
    return page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: section })
      .click()
  }

  test('signs in with the key of the link, which is in the address no more', async () => {
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(page.url()).not.toContain('sk-')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Demo' }).first().click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.getByRole('article', { name: 'Traces' }).getByRole('link').first().waitFor()
    await goTo('Logs')
    await page.getByRole('heading', { name: 'Logs' }).waitFor()
  })

  test('follows one trace', async () => {
    await page.locator('tr[data-index="2"]').click()
    const steps = page.getByRole('treeitem')
    await steps.filter({ hasText: 'chat completion' }).last().click()
    await page.getByText('assistant').first().waitFor()
  })

  test('finds the worst answers of an experiment', async () => {
    await goTo('Experiments')
    await page.getByRole('link', { name: 'gpt-4o-mini' }).click()
    await page.getByRole('button', { name: 'Worst first: Factuality' }).click()
    const scores = page.getByRole('table', { name: 'Examples' }).locator('tr[data-index="0"]')
    await scores
      .getByText(/^[01]\.\d %$/)
      .first()
      .waitFor()
    await scores.click()
    await page.getByRole('region', { name: 'Example' }).getByText('question').first().waitFor()
  })

  test('compares two models', async () => {
    await goTo('Experiments')
    await page.getByLabel('Choose gpt-4o-mini').check()
    await page.getByLabel('Choose claude-sonnet-4').check()
    await page.getByRole('link', { name: 'Compare' }).click()
    const scores = page.getByRole('table', { name: 'Scores side by side' })
    const factuality = await scores.getByRole('row', { name: /Factuality/ }).textContent()
    expect(factuality).toMatch(/\d+\.\d %/)
    const examples = page.getByRole('table', { name: 'Examples side by side' })
    await examples.locator('tr[data-index="0"]').waitFor()
  })

  test('builds a plot of latency per model by day', async () => {
    await goTo('Query')
    await page.getByRole('button', { name: /Latency per model by day/ }).click()
    await page.locator('.lines canvas').waitFor()
    const plot = page.getByRole('img', { name: /latency by day/ })
    expect(await plot.getAttribute('aria-label')).toMatch(/claude-sonnet-4.*gpt-4o/)
  })

  test('edits a dataset and exports it as Parquet', async () => {
    await goTo('Datasets')
    await page.getByRole('link', { name: 'support questions' }).click()
    const cell = page.locator('tr[data-index="0"]').getByTitle('Edit expected')
    await cell.click()
    await page.getByLabel('expected', { exact: true }).fill('Ask the warehouse.')
    await page.keyboard.press('Control+Enter')
    await cell.getByText('Ask the warehouse.').waitFor()
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Parquet' }).click(),
    ])
    const { buffer: file } = new Uint8Array(readFileSync(await download.path()))
    const [first] = await parquetReadObjects({
      file,
      columns: ['expected'],
      rowEnd: 1,
      compressors,
    })
    expect(first).toEqual({ expected: '"Ask the warehouse."' })
  })

  test('has met no fault in all of that', () => {
    // Who is signed in is asked for before anybody is.
    expect(opened.faults.filter((fault) => !fault.includes('401'))).toEqual([])
  })
})

/** The link that the demonstration prints when all its records are written. */
async function linkIn(demo: ChildProcess): Promise<URL> {
  let output = ''
  for await (const line of createInterface({ input: demo.stdout! })) {
    output += `${line}\n`
    const link = /^Open (http\S+)$/.exec(line)?.[1]
    if (link !== undefined) return new URL(link)
  }
  throw new Error(`the demonstration ended: ${output}`)
}
