/** Rows that are selected in the page: added to a dataset, tagged, scored, exported, deleted, and put back. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { type AnyJson, RunningService } from '../support/running-service.ts'

const logs = '/app/default/p/support/logs'
const traces = 250

describe.skipIf(!hasBrowser)('selected rows', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let project: string
  let experiment: string

  beforeAll(async () => {
    service = await RunningService.start()
    project = await service.project('support')
    const start = Date.now() - 3_600_000
    const events = Array.from({ length: traces }, (_, i) => ({
      id: `r${i}`,
      span_id: `s${i}`,
      root_span_id: `t${i}`,
      created: new Date(start + i * 1000).toISOString(),
      input: { question: `Question ${i}`, exact: i },
      output: `Answer ${i}`,
      tags: i % 2 === 0 ? ['even'] : [],
      metadata: { topic: i < 100 ? 'billing' : 'shipping' },
      scores: { quality: i / traces },
    }))
    const below = { id: 'below', span_id: 'below', root_span_id: 't249', span_parents: ['s249'] }
    await service.insert('project_logs', project, [...events, below])
    experiment = await service.create('experiment', project, 'tried')
    await service.insert(
      'experiment',
      experiment,
      [0.9, 0.1, 0.5].map((exact, i) => ({
        ...{ id: `e${i}`, input: `Case ${i}`, output: `Got ${i}`, expected: `Want ${i}` },
        scores: { exact },
      })),
    )
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  async function rowsOf(text: string): Promise<readonly AnyJson[]> {
    const { json } = await service.query(text)
    return json.data as unknown as readonly AnyJson[]
  }

  const box = (page: Page, row: number) => page.getByLabel(`Select row ${row}`, { exact: true })
  const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selection' })
  const inDialog = (page: Page) => page.getByRole('dialog')

  test('become records of a new dataset, with links both ways', async () => {
    const { page, faults, picture } = await browser.page(logs)
    await box(page, 2).click()
    await box(page, 4).click({ modifiers: ['Shift'] })
    await bar(page).getByText('3 traces selected').waitFor()
    for (const row of [2, 3, 4]) expect(await box(page, row).isChecked()).toBe(true)
    await picture('picked-logs')
    expect(await accessibilityFaults(page)).toEqual([])
    await bar(page).getByRole('button', { name: 'Add to dataset' }).click()
    await inDialog(page).getByLabel('Name').fill('regressions')
    const first = inDialog(page).getByRole('region', { name: 'The first of them' })

    await first.getByText('"question":"Question 248"').waitFor()
    await first.getByText('Answer 248').waitFor()
    await choose(page, 'Expected from', 'Leave empty')
    await first.getByText('Answer 248').waitFor({ state: 'detached' })
    await choose(page, 'Expected from', 'Expected, or else the output')
    await picture('picked-add')
    await inDialog(page).getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Added 3 records to regressions').waitFor()
    await page.getByRole('link', { name: 'Open the dataset' }).click()
    await page.getByText('3 records', { exact: true }).waitFor()
    await page.locator('tr', { hasText: 'Question 246' }).locator('a.open').click()
    await page.getByRole('link', { name: 'the logs of support' }).click()
    await page.getByRole('region', { name: 'Trace' }).getByText('Answer 246').first().waitFor()
    await page.getByRole('region', { name: 'Datasets' }).getByRole('link').click()
    await page.getByRole('region', { name: 'Record' }).waitFor()
    expect(faults).toEqual([])
  })

  test('are found in a dataset once, however often they are added, and Undo takes them out', async () => {
    const id = await service.create('dataset', project, 'once')
    const { page, faults } = await browser.page(logs)
    const add = async () => {
      await bar(page).getByRole('button', { name: 'Add to dataset' }).click()
      await choose(inDialog(page), 'Dataset', 'once')
      await choose(inDialog(page), 'Expected from', 'Leave empty')
      await inDialog(page).getByRole('button', { name: 'Add', exact: true }).click()
    }
    await box(page, 1).click()
    await add()
    await page.getByText('Added 1 record to once').waitFor()
    await box(page, 2).click()
    await add()
    await page.getByText('Added 1 record to once; 1 there already').waitFor()
    const text = `select: input, expected, metadata, origin | from: dataset('${id}') | sort: origin.id`
    expect(await rowsOf(text)).toMatchObject([
      { input: { question: 'Question 248' }, expected: null, origin: { id: 'r248' } },
      { input: { question: 'Question 249' }, origin: { object_id: project, id: 'r249' } },
    ])
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('Undone for 1 record').waitFor()
    expect(await rowsOf(text)).toHaveLength(1)
    expect(faults).toEqual([])
  })

  test('are all that match, of which not all are loaded', async () => {
    const id = await service.create('dataset', project, 'everything')
    const { page, faults } = await browser.page(logs)
    await box(page, 1).click()
    await bar(page)
      .getByRole('button', { name: `Select all ${traces}` })
      .click()
    await bar(page).getByText(`${traces} traces selected`).waitFor()
    await bar(page).getByRole('button', { name: 'Add to dataset' }).click()
    await choose(inDialog(page), 'Dataset', 'everything')
    await inDialog(page).getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText(`Added ${traces} records to everything`).waitFor()
    const [counted] = await rowsOf(
      `dimensions: origin.object_type as type | measures: count(1) as n, count_distinct(origin.id) as ids | from: dataset('${id}')`,
    )
    expect(counted).toEqual({ type: 'project_logs', n: traces, ids: traces })
    expect(faults).toEqual([])
  })

  test('are tagged and scored by keys alone, and Undo takes back what was new', async () => {
    const { page, faults } = await browser.page(
      `${logs}?q=${encodeURIComponent("metadata.topic = 'billing'")}`,
    )
    const state = () =>
      rowsOf(
        `select: id, tags, scores.care as care | from: project_logs('${project}') | filter: id in ['r98', 'r99'] | sort: id`,
      )
    await page.locator('tr[data-index="0"] .opens').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Shift+Space')
    await bar(page).getByText('2 traces selected').waitFor()
    await bar(page).getByRole('button', { name: 'Tag' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('even, checked')
    await page.keyboard.press('Enter')
    await page.getByText('Tagged 2 traces').waitFor()
    await page.locator('tr[data-index="0"]').getByText('checked').waitFor()
    expect(await state()).toMatchObject([
      { tags: ['even', 'checked'] },
      { tags: ['even', 'checked'] },
    ])
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('Undone for 2 traces').waitFor()
    expect(await state()).toMatchObject([{ tags: ['even'] }, { tags: [] }])
    await bar(page).getByRole('button', { name: 'Score' }).click()
    await page.keyboard.type('care')
    await page.keyboard.press('Tab')
    await page.keyboard.type('75')
    await page.keyboard.press('Enter')
    await page.getByText('Scored 2 traces').waitFor()
    expect(await state()).toMatchObject([{ care: 0.75 }, { care: 0.75 }])
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('Undone for 2 traces').nth(1).waitFor()
    expect(await state()).toMatchObject([{ care: null }, { care: null }])
    await page.keyboard.press('Escape')
    await bar(page).waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('wait for a service that has had too many requests, and go on', async () => {
    const { page } = await browser.page(logs)
    let asked = 0
    await page.route('**/feedback', (route) => {
      asked++
      if (asked > 2) return route.continue()
      return route.fulfill({ status: asked === 1 ? 429 : 503, headers: { 'retry-after': '1' } })
    })
    await box(page, 1).click()
    await bar(page).getByRole('button', { name: 'Tag' }).click()
    await page.keyboard.type('patient')
    await page.keyboard.press('Enter')
    await page.locator('.connection-bar').getByText('too many requests').waitFor()
    await page.getByText('Tagged 1 trace').waitFor()
    expect(asked).toBe(3)
    const { json } = await service.query(
      `measures: count(1) as n | from: project_logs('${project}') | filter: tags includes 'patient'`,
    )
    expect(json.data).toEqual([{ n: 1 }])
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('Undone for 1 trace').waitFor()
  })

  test('are changed while one looks at other pages, and no longer once it is stopped', async () => {
    const { page, faults, picture } = await browser.page(logs)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/feedback', async (route) => {
      await held
      await route.continue()
    })
    await box(page, 1).click()
    await bar(page)
      .getByRole('button', { name: `Select all ${traces}` })
      .click()
    await bar(page).getByRole('button', { name: 'Tag' }).click()
    await page.keyboard.type('halfway')
    await page.keyboard.press('Enter')
    const progress = page.getByRole('region', { name: 'Change under way' })
    await progress.getByText(`Tagging: 0 of ${traces}`).waitFor()
    await page.getByRole('link', { name: 'Experiments' }).click()
    await page.getByRole('table', { name: 'Experiments' }).waitFor()
    await picture('picked-under-way')
    expect(await accessibilityFaults(page)).toEqual([])
    await progress.getByRole('button', { name: 'Stop' }).click()
    release()
    await page.getByText(/^Stopped/).waitFor()
    await progress.waitFor({ state: 'detached' })
    const { json } = await service.query(
      `measures: count(1) as n | from: project_logs('${project}') | filter: tags includes 'halfway'`,
    )
    const [{ n }] = json.data as unknown as [{ n: number }]
    expect(n).toBeLessThan(traces)
    expect(faults.filter((fault) => !fault.includes('ERR_ABORTED'))).toEqual([])
  })

  test('are deleted with all spans of their traces, and come back whole', async () => {
    const { page, faults } = await browser.page(logs)
    const text = `select: id, input, tags, span_parents | from: project_logs('${project}') | filter: root_span_id = 't249' | sort: id`
    const before = await rowsOf(text)
    expect(before).toHaveLength(2)
    await box(page, 1).click()
    await bar(page).getByRole('button', { name: 'Delete' }).click()
    await inDialog(page).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted 1 trace').waitFor()
    expect(await rowsOf(text)).toEqual([])
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('Undone for').waitFor()
    expect(await rowsOf(text)).toEqual(before)
    expect(faults).toEqual([])
  })

  test('are exported whole', async () => {
    const { page, faults } = await browser.page(logs)
    await box(page, 1).click()
    await box(page, 2).click()
    await bar(page).getByRole('button', { name: 'Export' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'JSON lines' }).click()
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines.map((line) => (JSON.parse(line) as AnyJson).id)).toEqual(['r249', 'r248'])
    expect(faults).toEqual([])
  })

  test('may be the worst examples of an experiment', async () => {
    const { page, faults } = await browser.page(
      '/app/default/p/support/experiments/tried?sort=score.exact',
    )
    await page.getByLabel('Choose e1').click()
    await page.getByLabel('Choose e2').click({ modifiers: ['Shift'] })
    await bar(page).getByText('2 examples selected').waitFor()
    await bar(page).getByRole('button', { name: 'Add to dataset' }).click()
    await choose(inDialog(page), 'Dataset', 'New dataset…')
    await inDialog(page).getByLabel('Name').fill('worst')
    await inDialog(page).getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Added 2 records to worst').waitFor()
    await page.getByRole('link', { name: 'Open the dataset' }).click()
    await page.locator('tr', { hasText: 'Case 1' }).getByText('Want 1').waitFor()
    await page.locator('tr', { hasText: 'Case 1' }).locator('a.open').click()
    await page.getByRole('link', { name: 'tried' }).click()
    await page.getByRole('region', { name: 'Example' }).getByText('Got 1').first().waitFor()
    expect(faults).toEqual([])
  })

  test('are nothing that a reader is offered, nor who may only make datasets', async () => {
    const { json: role } = await service.request('/v1/role', {
      body: {
        name: 'Collector',
        member_permissions: [
          { permission: 'read' },
          { permission: 'create', restrict_object_type: 'dataset' },
        ],
      },
    })
    for (const [who, group] of [
      ['reader', 'Viewers'],
      ['collector', undefined],
    ] as const) {
      const email = `${who}@example.com`
      const invite_users = { emails: [email], ...(group && { group_names: [group] }) }
      await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
      const { json } = await service.request('/v1/api_key', {
        body: { name: who },
        headers: { 'x-bt-impersonate-user': email },
      })
      if (!group) {
        const grant = { object_id: role.org_id, user_id: json.user_id, role_id: role.id }
        await service.request('/v1/acl', { body: { object_type: 'organization', ...grant } })
      }
      const { page } = await browser.page(logs, { key: String(json.key) })
      await page.locator('tr[data-index="0"]').waitFor()
      await page.waitForLoadState('networkidle')
      expect(await page.getByLabel('Select row 1', { exact: true }).count(), who).toBe(0)
      await page.goto(`${service.url}/app/default/p/support/experiments/tried`)
      await page.getByText('Case 1').first().waitFor()
      await page.waitForLoadState('networkidle')
      expect(await page.getByLabel('Choose e1').count(), who).toBe(0)
    }
  })
})
