/** The page offers what one may do, and nothing that would be refused. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService, testKey } from '../support/running-service.ts'

const project = '/app/default/p/support'
const settings = (tab: string) => `/app/default/settings?tab=${tab}`

type Who = 'owner' | 'engineer' | 'viewer'

describe.skipIf(!hasBrowser)('what people are offered', { timeout: 300_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  const keys = new Map<Who, string>([['owner', testKey]])

  beforeAll(async () => {
    service = await RunningService.start()
    const id = await service.project('support')
    await service.insert('project_logs', id, [{ input: 'Hello?', output: 'Hello.' }])
    for (const name of ['first', 'second']) {
      const experiment = await service.create('experiment', id, name)
      await service.insert('experiment', experiment, [{ input: 'one', scores: { exact: 1 } }])
    }
    const dataset = await service.create('dataset', id, 'questions')
    await service.insert('dataset', dataset, [{ id: 'a', input: 'one', expected: '1' }])
    for (const [who, group] of [
      ['engineer', 'Engineers'],
      ['viewer', 'Viewers'],
    ] as const) {
      const email = `${who}@example.com`
      const invite_users = { emails: [email], group_names: [group] }
      await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
      const { json } = await service.request('/v1/api_key', {
        body: { name: who },
        headers: { 'x-bt-impersonate-user': email },
      })
      keys.set(who, String(json.key))
    }
    browser = await PageBrowser.open(service)
  }, 240_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  /** Titles of what can be pressed on the page, once it has asked for everything. */
  async function offered(page: Page): Promise<string[]> {
    await page.waitForLoadState('networkidle')
    const buttons = page.locator('#content').getByRole('button')
    return (await buttons.allInnerTexts()).map((text) => text.trim())
  }

  test.each<[path: string, shown: string, changes: readonly string[]]>([
    ['/app', 'support', ['New project']],
    [`${project}/experiments?chosen=`, 'second', ['Rename', 'Delete', 'Make it the baseline']],
    [`${project}/datasets`, 'questions', ['New dataset']],
    [`${project}/datasets/questions`, 'one', ['Snapshot', 'Import', 'Add record']],
  ])('of %s is what they may do', async (path, shown, changes) => {
    const { json } = await service.request('/v1/experiment?experiment_name=first')
    const [first] = json.objects as unknown as readonly { readonly id: string }[]
    const target = path.endsWith('chosen=') ? path + first!.id : path
    for (const who of ['owner', 'engineer', 'viewer'] as const) {
      const { page, faults } = await browser.page(target, { key: keys.get(who)! })
      await page.getByText(shown).first().waitFor()
      if (who === 'viewer') {
        const found = await offered(page)
        expect(
          found.filter((text) => changes.includes(text)),
          who,
        ).toEqual([])
      } else {
        for (const name of changes) await page.getByRole('button', { name }).first().waitFor()
      }
      expect(faults, who).toEqual([])
    }
  })

  test('is to read where they may not write, also by an address that asks for more', async () => {
    const dataset = `${project}/datasets/questions`
    const { page } = await browser.page(`${dataset}?row=a&open=import`, {
      key: keys.get('viewer')!,
    })
    const record = page.getByRole('region', { name: 'Record', exact: true })
    await record.getByText('one').first().waitFor()
    await page.waitForLoadState('networkidle')
    expect(await record.getByRole('textbox').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await page.getByTitle('Edit expected').count()).toBe(0)
    await page.goto(`${service.url}${project}/datasets?open=new`)
    await page.getByText('questions').first().waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.goto(`${service.url}/app`)
    await page.getByRole('button', { name: 'More for support' }).click()
    const rename = page.getByRole('menuitem', { name: 'Rename…' })
    await rename.getByText('takes the right to update it').waitFor()
    expect(await rename.isDisabled()).toBe(true)
  })

  test('in the settings is as much as they may see and change', async () => {
    const tabs: Readonly<Record<Who, number>> = { owner: 13, engineer: 9, viewer: 7 }
    const changing =
      /^(Invite|New (group|role|grant|token|variable|AI secret)|Change|Delete|Remove)$/
    for (const who of ['owner', 'engineer', 'viewer'] as const) {
      const { page, faults, picture } = await browser.page(settings('you'), {
        key: keys.get(who)!,
      })
      const all = page.getByRole('tablist', { name: 'Settings' }).getByRole('tab')
      await all.first().waitFor()
      expect(await all.count(), who).toBe(tabs[who])
      for (const tab of await all.all()) {
        await tab.click()
        await page.locator('.settings-part').first().waitFor()
        await page.waitForLoadState('networkidle')
        const title = String(await tab.textContent())
        await picture(`settings-${who}-${title.toLowerCase().replaceAll(' ', '-')}`)
        expect(await page.getByRole('alert').allInnerTexts(), `${who}: ${title}`).toEqual([''])
        if (who !== 'owner') {
          const found = (await offered(page)).filter((text) => changing.test(text))
          expect(found, `${who}: ${title}`).toEqual([])
        }
      }
      expect(faults, who).toEqual([])
    }
  })
})
