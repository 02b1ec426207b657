/** The settings as people use them, in a real browser: who comes in by what, and what they may do. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService } from '../support/running-service.ts'

const exports = mkdtempSync(join(tmpdir(), 'assay-exports-'))

const settings = (tab: string) => `/app/default/settings?tab=${tab}`

describe.skipIf(!hasBrowser)('the settings', { timeout: 180_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start({
      ASSAY_EXPORT_FOLDERS: exports,
      // Nobody listens there.
      ASSAY_CLICKHOUSE: 'http://127.0.0.1:9',
    })
    await service.project('support')
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
    rmSync(exports, { recursive: true, force: true })
  })

  test('make a key that works, show it once, and revoke it', async () => {
    const { page, faults } = await browser.page(settings('keys'))
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('laptop')
    await page.getByRole('button', { name: 'Create' }).click()
    const secret = page.getByRole('dialog', { name: 'Your new key' })
    const key = String(await secret.locator('.secret code').textContent())
    expect((await service.request('/v1/project', { key })).status).toBe(200)
    await secret.getByRole('button', { name: 'Done' }).click()
    expect(await page.getByText(key).count()).toBe(0)
    await page.getByRole('button', { name: 'Revoke laptop' }).click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('row', { name: /laptop/ }).waitFor({ state: 'detached' })
    expect((await service.request('/v1/project', { key })).status).toBe(401)
    expect(faults).toEqual([])
  })

  test('try a masking rule on what is stored before it is saved, and mask that, too', async () => {
    const id = await service.project('masked')
    const row = { id: 'a', input: 'write to anna@example.com' }
    await service.insert('project_logs', id, [row])
    const { page, faults } = await browser.page(settings('masking'))
    await page.getByRole('button', { name: 'New rule' }).click()
    const dialog = page.getByRole('dialog', { name: 'New rule' })
    await dialog.getByRole('button', { name: 'Try' }).click()
    await dialog.getByText('1 value in 1 of 1 record').waitFor()
    await dialog.getByText('[email]', { exact: true }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /Masking All E-mail addresses Replace/ }).waitFor()
    await page.getByRole('button', { name: 'Mask what is stored' }).click()
    const anew = page.getByRole('dialog', { name: 'Mask what is stored' })
    await choose(anew, 'Project', 'masked')
    await anew.getByLabel('Remove those of records with a value to mask').check()
    expect(await accessibilityFaults(page)).toEqual([])
    await anew.getByRole('button', { name: 'Mask', exact: true }).click()
    await page.getByText('1 record masked, old versions of 1 removed').waitFor()
    await page.getByRole('button', { name: 'Delete Masking' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Everything is stored as it comes').waitFor()
    expect(faults).toEqual([])
  })

  test('warn of a backup that is too old', async () => {
    const body = {
      kind: 'backup',
      time: Date.now() - 7_200_000,
      transaction: 1,
      max_age_seconds: 60,
    }
    expect((await service.request('/admin/backup/done', { body })).status).toBe(200)
    for (const place of ['/app', settings('storage')]) {
      const { page, faults } = await browser.page(place)
      await page.getByText('The last good backup is 2 hours old').waitFor()
      expect(faults).toEqual([])
    }
    await service.request('/admin/backup/done', { body: { ...body, time: Date.now() } })
  })

  test('show what a retention would remove before it is saved', async () => {
    const { page, faults } = await browser.page(settings('retention'))
    await page.getByRole('button', { name: 'New rule' }).click()
    const dialog = page.getByRole('dialog', { name: 'New rule' })
    await dialog.getByLabel('Always keep').fill('error is not null')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('Now 0 traces with 0 records').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    const line = page.getByRole('row', { name: /Retention/ })
    await line.getByText('90 days, longer where error is not null').waitFor()
    await line.getByText('has not run yet').waitFor()
    await line.getByRole('button', { name: 'Run now: Retention' }).click()
    await line.getByText('0 traces with 0 records removed').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('make a scheduled export, run it, and rewind it', async () => {
    const { json } = await service.request('/v1/project?project_name=support')
    const project = String(json.objects![0]!.id)
    await service.insert('project_logs', project, [{ id: 'a' }, { id: 'b' }])
    const { page, faults } = await browser.page(settings('exports'))
    await page.getByRole('button', { name: 'New export' }).click()
    const dialog = page.getByRole('dialog', { name: 'New export' })
    await dialog.getByLabel('Name').fill('To the lake')
    await choose(dialog, 'Project', 'support')
    await dialog.getByLabel('To', { exact: true }).fill(join(exports, 'lake'))
    await choose(dialog, 'What', 'Rows of a query')
    await dialog.getByRole('textbox', { name: 'Query' }).fill('select: id | from: project_logs()')
    await choose(dialog, 'Format', 'JSON lines')
    await choose(dialog, 'How often', 'Daily')
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    const line = page.getByRole('row', { name: /To the lake/ })
    await line.getByRole('button', { name: 'Run now: To the lake' }).click()
    await line.getByText('2 rows in 1').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await line.getByRole('button', { name: 'Rewind To the lake' }).click()
    const { json: listed } = await service.request('/v1/project_automation')
    const state = async () => (await service.request(`/v1/export/${listed.objects![0]!.id}`)).json
    const { last_good_run: before } = await state()
    await page.getByRole('dialog').getByRole('button', { name: 'Rewind' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // It runs by itself then, and cannot be told to meanwhile.
    await expect.poll(async () => (await state()).last_good_run).not.toBe(before)
    await expect.poll(async () => (await state()).status).toBe('waiting')
    const again = page.waitForResponse((response) => response.url().endsWith('/v1/export/run'))
    await line.getByRole('button', { name: 'Run now: To the lake' }).click()
    expect((await again).status()).toBe(200)
    await line.getByText(/last run/).waitFor()
    await line.getByText('2 rows in 1').waitFor()
    await line.getByRole('button', { name: 'Delete To the lake' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await line.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('invite a member into a group, who then sees less than an owner', async () => {
    const { page, faults } = await browser.page(settings('members'))
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('E-mail addresses').fill('ada@example.com')
    const dialog = page.getByRole('dialog', { name: 'Invite' })
    expect(await dialog.getByLabel('Viewers', { exact: true }).isChecked()).toBe(true)
    await dialog.getByRole('button', { name: 'Invite' }).click()
    const line = page.getByRole('row', { name: /ada@example.com/ })
    await line.getByText('Viewers').waitFor()
    await line.getByRole('button', { name: 'Make a key' }).click()
    await page.getByRole('button', { name: 'Create' }).click()
    const key = String(await page.locator('.secret code').textContent())
    expect(faults).toEqual([])

    const { page: hers } = await browser.page('/app/default/settings', { isSignedIn: false })
    await hers.getByLabel('API key').fill(key)
    await hers.getByRole('button', { name: 'Sign in' }).click()
    await hers.getByRole('tab', { name: 'Members' }).click()
    await hers.getByRole('row', { name: /ada@example.com — you/ }).waitFor()
    expect(await hers.getByRole('button', { name: 'Invite' }).count()).toBe(0)
    for (const name of ['Grants', 'Service tokens', 'Storage']) {
      expect(await hers.getByRole('tab', { name }).count(), name).toBe(0)
    }
  })

  test('make a group and a role, give the role to the group, and take it back', async () => {
    const { page, faults } = await browser.page(settings('groups'))
    await page.getByRole('button', { name: 'New group' }).click()
    await page.getByLabel('Name').fill('Reviewers')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('row', { name: /Reviewers/ }).waitFor()
    await page.getByRole('tab', { name: 'Roles' }).click()
    await page.getByRole('button', { name: 'New role' }).click()
    await page.getByLabel('Name').fill('Review')
    await page.getByLabel('update on datasets').check()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('row', { name: /Review.*update: datasets/ }).waitFor()
    await page.getByRole('tab', { name: 'Grants' }).click()
    await page.getByRole('button', { name: 'New grant' }).click()
    await choose(page, 'Who', 'Group Reviewers')
    await choose(page, 'May', 'Role Review')
    await choose(page, 'On', 'project')
    await choose(page, 'Project', 'support')
    await page.getByRole('button', { name: 'Give' }).click()
    const line = page.getByRole('row', { name: /group Reviewers.*role Review.*project support/ })
    await line.getByRole('button', { name: /Revoke/ }).click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).last().click()
    await line.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('give a right on one experiment by its name, which leads to it', async () => {
    const project = await service.project('granted')
    await service.create('experiment', project, 'baseline')
    await service.create('dataset', project, 'golden')
    const { page, faults } = await browser.page(settings('grants'))
    for (const [kind, name] of [
      ['experiment', 'baseline'],
      ['dataset', 'golden'],
    ] as const) {
      await page.getByRole('button', { name: 'New grant' }).click()
      await choose(page, 'Who', 'Group Viewers')
      await choose(page, 'On', kind)
      await choose(page, 'Project', 'granted')
      await page.getByLabel('Its name').fill('absent')
      await page.getByRole('button', { name: 'Give' }).click()
      await page.getByText(`The project has no ${kind} “absent”`).waitFor()
      await page.getByLabel('Its name').fill(name)
      await page.getByRole('button', { name: 'Give' }).click()
      await page.getByRole('row', { name: new RegExp(`${kind} ${name} in granted`) }).waitFor()
    }
    await page.getByRole('link', { name: 'baseline' }).click()
    await page.getByRole('heading', { name: 'baseline' }).waitFor()
    expect(faults).toEqual([])
  })

  test('tell what was refused in a dialog, and keep what was written', async () => {
    const { page } = await browser.page(settings('groups'))
    await page.getByRole('button', { name: 'Change Owners' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change “Owners”' })
    await dialog.getByLabel('owner', { exact: false }).uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').getByText('without an owner').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    const { page: other } = await browser.page(settings('groups'))
    await other.getByRole('row', { name: /Owners.*owner/ }).waitFor()
  })

  test('keep secrets that nobody reads again, and make tokens for programs', async () => {
    const { page, faults } = await browser.page(settings('secrets'))
    await page.getByRole('button', { name: 'New AI secret' }).click()
    await page.getByLabel('Name').fill('OPENAI_API_KEY')
    await page.getByLabel('Value').fill('sk-a-very-secret-value-1234')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /OPENAI_API_KEY.*\*\*\*1234/ }).waitFor()
    expect(await page.content()).not.toContain('very-secret')
    await page.getByRole('tab', { name: 'Service tokens' }).click()
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('Name of the token').fill('deploy')
    await page.getByLabel('Name of the account').fill('ci')
    await page.getByLabel('Viewers', { exact: true }).check()
    await page.getByRole('button', { name: 'Create' }).click()
    const key = String(await page.locator('.secret code').textContent())
    const all = await service.request('/v1/project')
    const shown = await service.request('/v1/project', { key })
    expect(shown.json.objects).toHaveLength(Number(all.json.objects!.length))
    expect(faults).toEqual([])
  })

  test('show the figures of storage, and that nothing runs', async () => {
    const { page, faults } = await browser.page(settings('storage'))
    await page.getByText('Versions of records in segments').waitFor()
    await page.getByRole('table', { name: 'On disk' }).waitFor()
    await page.getByRole('tab', { name: 'Running queries' }).click()
    await page.getByText('Nothing runs at the moment').waitFor()
    expect(faults).toEqual([])
  })

  test('show how the export to ClickHouse is, and why it waits', async () => {
    const project = await service.project('exported')
    const { page, faults } = await browser.page(settings('storage'))
    const part = page.getByRole('region', { name: 'Export to ClickHouse' })
    const figures = async () => {
      const names = await part.locator('dt').allInnerTexts()
      const values = await part.locator('dd').allInnerTexts()
      return Object.fromEntries(names.map((name, i) => [name, values[i]]))
    }
    await part.getByText('127.0.0.1:9 cannot be reached').waitFor()
    expect(await figures()).toMatchObject({
      State: 'Waiting',
      'Complete up to': 'nothing yet',
      'Rows sent since the start': '0',
    })
    const before = Number((await figures())['Rows to send'])
    await service.insert('project_logs', project, [{ id: 'a' }, { id: 'b' }])
    // Without being asked to look again.
    await expect.poll(async () => Number((await figures())['Rows to send'])).toBe(before + 2)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('say whether searches take queries, which the search input obeys', async () => {
    const { page, faults } = await browser.page(settings('you'))
    const asked = async () => {
      const request = page.waitForRequest(/\/search$/)
      await page.goto(`${service.url}/app/default/p/support/logs?q=error%20is%20not%20null`)
      return JSON.parse((await request).postData() ?? '{}') as { query_language: boolean }
    }
    const taken = page.getByRole('switch', { name: 'Run queries typed into the search box' })
    const kept = () => page.waitForResponse(/\/session\/preferences$/)
    await Promise.all([kept(), taken.uncheck()])
    await page.reload()
    await expect.poll(() => taken.isChecked()).toBe(false)
    expect((await asked()).query_language).toBe(false)
    await page.getByText(/^(Text|Understood as)$/).waitFor()
    await page.goto(service.url + settings('you'))
    await Promise.all([kept(), taken.check()])
    expect((await asked()).query_language).toBe(true)
    await page.locator('.taken').getByText('run as written').waitFor()
    expect(faults).toEqual([])
  })

  test('sign out everywhere', async () => {
    const { page: here } = await browser.page(settings('you'))
    const { page: there } = await browser.page('/app')
    await there.getByRole('heading', { name: 'Projects' }).waitFor()
    await here.getByRole('button', { name: 'Sign out everywhere' }).click()
    await here.getByRole('button', { name: 'Sign out', exact: true }).last().click()
    await here.getByRole('button', { name: 'Sign in' }).waitFor()
    await there.reload()
    await there.getByRole('button', { name: 'Sign in' }).waitFor()
  })
})
