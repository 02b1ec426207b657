/** Datasets in the web page, in a real browser: edited in place, imported, exported, and looked at as they were. */
import { readFileSync } from 'node:fs'
import { tableFromArrays, tableToIPC } from 'apache-arrow'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateDataset } from '../../src/demo/generate.ts'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { parquetOf } from '../support/parquet-by-duckdb.ts'
import { type AnyJson, RunningService } from '../support/running-service.ts'

const list = '/app/default/p/support/datasets'

describe.skipIf(!hasBrowser)('datasets in the page', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let project: string

  beforeAll(async () => {
    service = await RunningService.start()
    project = await service.project('support')
    await service.project('empty')
    const records = [...generateDataset({ seed: 5, count: 150, start: Date.UTC(2026, 5, 1) })]
    await service.insert('dataset', await service.create('dataset', project, 'questions'), records)
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  async function dataset(name: string, records: readonly object[]): Promise<string> {
    const id = await service.create('dataset', project, name)
    if (records.length > 0) await service.insert('dataset', id, records)
    return id
  }

  async function recordsOf(id: string): Promise<readonly AnyJson[]> {
    const { json } = await service.query(
      `select: id, input, expected, metadata, tags | from: dataset('${id}') | sort: id`,
    )
    return json.data as unknown as readonly AnyJson[]
  }

  const cell = (page: Page, row: number, field: string) =>
    page.locator(`tr[data-index="${row}"]`).getByTitle(`Edit ${field}`)

  test('are listed, made, renamed and deleted', async () => {
    const { page, faults } = await browser.page('/app/default/p/support/logs')
    await page.getByRole('link', { name: 'Datasets' }).click()
    const table = page.getByRole('table', { name: 'Datasets' })
    await table.locator('tr', { hasText: 'questions' }).getByText('150').waitFor()
    await page.getByRole('button', { name: 'New dataset' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('drafts')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'No records yet' }).waitFor()
    await page.goto(`${service.url}${list}`)
    await page.getByLabel('Choose drafts').check()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('sketches')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByLabel('Choose sketches').check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await table.locator('tr', { hasText: 'sketches' }).waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('are edited in place, as text or as JSON that is checked as one types', async () => {
    const id = await dataset('edited', [
      {
        id: 'a',
        input: 'What is 2 + 2?',
        expected: '5',
        metadata: { exact: 1 },
        origin_note: 'kept',
      },
    ])
    const { page, faults } = await browser.page(`${list}/edited`)
    await cell(page, 0, 'expected').click()
    await page.getByLabel('expected', { exact: true }).fill('4')
    await page.keyboard.press('Control+Enter')
    await cell(page, 0, 'expected').getByText('4').waitFor()
    await cell(page, 0, 'metadata').click()
    await page
      .getByLabel('metadata', { exact: true })
      .fill('{\n  "size": 12345678901234567890,\n  "by" }')
    await page.getByText('Colon expected, at line 3, column 8').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await page
      .getByLabel('metadata', { exact: true })
      .fill('{"size": 12345678901234567890, "by": "ada"}')
    await page.getByText('Valid JSON').waitFor()
    await page.keyboard.press('Control+Enter')
    await cell(page, 0, 'metadata').getByText('ada').waitFor()
    await cell(page, 0, 'tags').click()
    await page.getByLabel('tags', { exact: true }).fill('easy, sums')
    await page.keyboard.press('Enter')
    await cell(page, 0, 'tags').getByText('sums').waitFor()
    const { text } = await service.query(`select: * | from: dataset('${id}')`)
    expect(text).toContain('"metadata":{"size":12345678901234567890,"by":"ada"}')
    expect(text).toContain('"tags":["easy","sums"]')
    expect(text).toContain('"origin_note":"kept"')
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await cell(page, 0, 'tags').getByText('sums').waitFor({ state: 'detached' })
    expect((await recordsOf(id))[0]?.expected).toBe('4')
    expect(faults).toEqual([])
  })

  test('keep every digit of what is edited beside it', async () => {
    const id = await dataset('digits', [])
    await service.request(`/v1/dataset/${id}/insert`, {
      body: '{"events":[{"id":"a","input":{"n":98765432109876543210,"word":"one"}}]}',
    })
    const { page } = await browser.page(`${list}/digits`)
    await cell(page, 0, 'input').click()
    const input = page.getByLabel('input', { exact: true })
    expect(await input.inputValue()).toContain('98765432109876543210')
    await input.fill((await input.inputValue()).replace('one', 'two'))
    await page.keyboard.press('Control+Enter')
    await cell(page, 0, 'input').getByText('two').waitFor()
    const { text } = await service.query(`select: input | from: dataset('${id}')`)
    expect(text).toContain('98765432109876543210')
  })

  test('take new records and lose chosen ones', async () => {
    const id = await dataset('grown', [{ id: 'first', input: 'one' }])
    const { page, faults } = await browser.page(`${list}/grown`)
    await page.getByRole('button', { name: 'Add record' }).click()
    await page.getByLabel('input', { exact: true }).fill('two')
    await page.getByLabel('metadata', { exact: true }).fill('[1]')
    await page.getByText('Metadata must be an object').waitFor()
    await page.getByLabel('metadata', { exact: true }).fill('{"n": 2}')
    await page.keyboard.press('Control+Enter')
    await page.getByText('2 records', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Record', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Close the record' }).click()
    await page.getByLabel('Choose first').check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 record', { exact: true }).waitFor()
    expect((await recordsOf(id)).map(({ input }) => input)).toEqual(['two'])
    expect(faults).toEqual([])
  })

  test('import JSON lines and name the bad ones', async () => {
    const id = await dataset('imported', [])
    const lines = [
      '{"id": "1", "input": "one", "expected": "1"}',
      '{"input": "two", ',
      '[3]',
      '{"id": "4", "input": {"n": 98765432109876543210}, "output": "four", "difficulty": 3}',
      '{"id": "5", "input": "five", "tags": [5]}',
    ]
    const { page, faults } = await browser.page(`${list}/imported`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByLabel('Or choose one').setInputFiles({
      name: 'records.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(lines.join('\n')),
    })
    await choose(page, 'What difficulty becomes', 'metadata')
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
    await page.getByText('2 records imported, 3 lines left out').waitFor()
    const bad = await page.getByLabel('Lines that were left out').locator('li').allTextContents()
    expect(bad[0]).toMatch(/^Line 2: .*not JSON: .* at byte \d+/)
    expect(bad[1]).toBe('Line 3: not a JSON object')
    expect(bad[2]).toContain('Line 5: ')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('2 records', { exact: true }).waitFor()
    const { text } = await service.query(
      `select: input, expected, metadata | from: dataset('${id}') | filter: id = '4'`,
    )
    expect(text).toContain('"expected":"four"')
    expect(text).toContain('98765432109876543210')
    expect(text).toContain('"metadata":{"difficulty":3}')
    expect(faults).toEqual([])
  })

  test('import CSV, whose columns become what one chooses', async () => {
    const id = await dataset('table', [])
    const csv =
      'question,context,answer,topic,tags\n' +
      '"Who, then?","a ""quoted"" word\nover lines",Ada,people,"a, b"\n' +
      'When?,,1843,dates,\n'
    const { page } = await browser.page(`${list}/table`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByLabel('Or choose one').setInputFiles({
      name: 'records.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(csv),
    })
    await choose(page, 'What question becomes', 'input')
    await choose(page, 'What context becomes', 'input')
    await choose(page, 'What answer becomes', 'expected')
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
    await page.getByText('2 records imported.').waitFor()
    const found = await recordsOf(id)
    const byAnswer = new Map(found.map((record) => [String(record.expected), record]))
    expect(byAnswer.get('Ada')).toMatchObject({
      input: { question: 'Who, then?', context: 'a "quoted" word\nover lines' },
      metadata: { topic: 'people' },
      tags: ['a', 'b'],
    })
    expect(byAnswer.get('1843')).toMatchObject({ input: 'When?', metadata: { topic: 'dates' } })
  })

  test('import CSV as others write it, and Parquet, by the rules of the command line', async () => {
    const id = await dataset('foreign', [])
    const { page, faults } = await browser.page(`${list}/foreign`)
    const chooseFile = async (name: string, buffer: Buffer) => {
      await page.getByRole('button', { name: 'Import', exact: true }).click()
      const files = page.getByLabel('Or choose one')
      await files.setInputFiles({ name, mimeType: 'application/octet-stream', buffer })
    }
    const run = async (text: string) => {
      await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
      await page.getByText(text).waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
    }
    const csv =
      'id;input;metadata.zip;metadata.n\n7;caf\xe9;007;12\n8;"open" x;1;2\n9;tea;010;1.50\n'
    await chooseFile('semicolons.csv', Buffer.from(csv, 'latin1'))
    await choose(page, 'Encoding', 'windows-1252')
    await choose(page, 'Cells are', 'auto')
    await run('2 records imported, 1 line left out')
    await chooseFile(
      'types.parquet',
      await parquetOf(
        `SELECT 1 AS id, 0.35::DECIMAL(10,2) AS input, '{"n":9007199254740993,"e":1e400}'::JSON AS metadata`,
      ),
    )
    await run('1 record imported.')
    const table = tableFromArrays({ id: ['b'], input: BigInt64Array.of(9007199254740993n) })
    await chooseFile('types.arrow', Buffer.from(tableToIPC(table, 'file')))
    await run('1 record imported.')
    const { text } = await service.query(
      `select: id, input, metadata | from: dataset('${id}') | sort: id`,
    )
    expect(text).toContain('"id":"1","input":0.35,"metadata":{"n":9007199254740993,"e":1e400}')
    expect(text).toContain('"id":"7","input":"caf\u00e9","metadata":{"zip":"007","n":12}')
    expect(text).toContain('"id":"b","input":9007199254740993')
    expect(text).toContain('"id":"9","input":"tea","metadata":{"zip":"010","n":1.50}')
    expect(faults).toEqual([])
  })

  test('import thousands of records that were dropped, and export them again', async () => {
    const id = await dataset('large', [])
    const records = [...generateDataset({ seed: 8, count: 2500, start: Date.UTC(2026, 5, 1) })]
    const lines = records.map((record) => JSON.stringify(record)).join('\n')
    const { page, faults } = await browser.page(`${list}/large`)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    // An expression, since the types of browsers are not those of tests.
    const dropped = await page.evaluateHandle(
      `(() => {
        const data = new DataTransfer()
        data.items.add(new File([${JSON.stringify(lines)}], 'records.jsonl'))
        return data
      })()`,
    )
    await page.getByLabel('Drop a file here').dispatchEvent('drop', { dataTransfer: dropped })
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
    await page.getByText('2,500 records imported.').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('1 – 100 of 2,500 records').waitFor()
    const saved = new Map<string, string>()
    for (const format of ['JSON lines', 'CSV', 'Parquet']) {
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format }).click(),
      ])
      saved.set(format, readFileSync(await download.path(), 'latin1'))
    }
    const exported = saved.get('JSON lines')!.trim().split('\n')
    expect(exported.length).toBe(2500)
    expect(saved.get('CSV')?.split('\n', 1)[0]).toContain('id,input,expected,metadata,tags')
    expect(saved.get('Parquet')?.slice(0, 4)).toBe('PAR1')
    expect((await recordsOf(id)).length).toBe(2500)
    expect(faults).toEqual([])
  })

  test('are shown as they were, with what changed since, and put back', async () => {
    const id = await dataset('history', [
      { id: 'a', input: 'one', expected: 'The answer is 1' },
      { id: 'b', input: 'two', expected: '2' },
    ])
    const first = (await service.query(`measures: max(_xact_id) as v | from: dataset('${id}')`))
      .json
    const version = String((first.data as unknown as { v: string }[])[0]?.v)
    await service.insert('dataset', id, [
      { id: 'a', input: 'one', expected: 'The answer was 1' },
      { id: 'b', _object_delete: true },
      { id: 'c', input: 'three', expected: '3' },
    ])
    const { page, faults } = await browser.page(`${list}/history`)
    await page.getByText('2 records', { exact: true }).waitFor()
    await choose(page, 'Changes since', version)
    await page.getByRole('button', { name: 'All 3' }).waitFor()
    const differences = page.locator('.record-difference')
    await differences.filter({ hasText: 'Changed' }).locator('del', { hasText: 'is' }).waitFor()
    await differences.filter({ hasText: 'Changed' }).locator('ins', { hasText: 'was' }).waitFor()
    await page.getByRole('button', { name: 'Removed 1' }).click()
    await expect.poll(() => differences.count()).toBe(1)
    await differences.getByText('two').first().waitFor()
    // While others are on their way, nothing is said of those that were shown.
    const held: (() => Promise<void>)[] = []
    let isHolding = true
    await page.route(/\/btql$/, async (route) => {
      if (isHolding) held.push(() => route.continue())
      else await route.continue()
    })
    await page.getByRole('button', { name: 'All 3' }).click()
    await expect.poll(() => held.length).toBeGreaterThan(0)
    expect(await page.getByText('written again as they were').count()).toBe(0)
    isHolding = false
    for (const release of held) await release()
    await expect.poll(() => differences.count()).toBe(3)
    await choose(page, 'Changes since', '')
    await choose(page, 'Version', version)
    await page.getByRole('row').filter({ hasText: 'The answer is 1' }).waitFor()
    expect(await page.getByRole('button', { name: 'Add record' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Snapshot', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Name this version…' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('as reviewed')
    await page.getByRole('button', { name: 'Name it' }).click()
    await page
      .getByRole('combobox', { name: 'Version', exact: true })
      .getByText('as reviewed')
      .waitFor()
    await page.getByRole('button', { name: 'Snapshot', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Go back to this version…' }).click()
    await page.getByText('This writes back 2 records as of then').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Go back' }).click()
    await page.getByRole('button', { name: 'Add record' }).waitFor()
    await expect
      .poll(async () => (await recordsOf(id)).map((record) => record.id))
      .toEqual(['a', 'b'])
    expect(faults).toEqual([])
  })

  test('say what to do where there is nothing yet', async () => {
    const { page } = await browser.page('/app/default/p/empty/datasets')
    await page.getByRole('heading', { name: 'No datasets yet' }).waitFor()
    await page.getByText(`BRAINTRUST_API_URL=${service.url}`).waitFor()
    const { page: absent } = await browser.page(`${list}/absent`)
    await absent.getByRole('alert').getByText('There is no dataset "absent"').waitFor()
  })
})
