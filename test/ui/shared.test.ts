/** What is in an address: whoever opens it, in another browser, sees the same as who sends it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { RunningService } from '../support/running-service.ts'

const project = '/app/default/p/support'

/** Run in the page: how many windows it has opened since it was loaded. */
const countDialogs = `
  window.dialogs = 0
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) {
        if (node instanceof Element && (node.matches('dialog') || node.querySelector('dialog'))) {
          window.dialogs++
        }
      }
    }
  }).observe(document, { childList: true, subtree: true })
`

describe.skipIf(!hasBrowser)('an address', { timeout: 300_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  /** Two people, each in a browser of their own. */
  let sender: Page
  let receiver: Page
  let ids: Readonly<Record<'project' | 'first' | 'second' | 'dataset' | 'key', string>>

  beforeAll(async () => {
    service = await RunningService.start()
    const id = await service.project('support')
    await service.insert('project_logs', id, [{ input: 'Hello?', output: 'Hello.' }])
    const [first, second, dataset] = [
      await service.create('experiment', id, 'first'),
      await service.create('experiment', id, 'second'),
      await service.create('dataset', id, 'questions'),
    ]
    for (const [experiment, score] of [
      [first, 1],
      [second, 0.5],
    ] as const) {
      const examples = ['one', 'two'].map((input) => {
        return { input, output: input, scores: { exact: score }, metadata: { model: input } }
      })
      await service.insert('experiment', experiment, examples)
    }
    await service.insert('dataset', dataset, [{ id: 'a', input: 'one', expected: '1' }])
    await service.insert('dataset', dataset, [{ id: 'a', input: 'one', expected: 'uno' }])
    const { json } = await service.request('/v1/api_key', { body: { name: 'laptop' } })
    ids = { project: id, first, second, dataset, key: String(json.id) }
    browser = await PageBrowser.open(service)
    sender = (await browser.page('/app', { isKept: true })).page
    receiver = (await browser.page('/app', { isKept: true })).page
    for (const page of [sender, receiver]) page.setDefaultTimeout(60_000)
    await receiver.addInitScript(countDialogs)
  }, 240_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  type Click = readonly [role: 'button' | 'menuitem' | 'tab', name: string]

  /** Clicks lead to a window, whose address opens it for somebody else, once; Escape leaves it. */
  async function sharesWindow(path: string, clicks: readonly Click[], title: string) {
    await sender.goto(service.url + path)
    for (const [role, name] of clicks) {
      await sender.getByRole(role, { name, exact: true }).first().click()
    }
    await sender.getByRole('dialog', { name: title }).waitFor()
    await receiver.goto(sender.url())
    await receiver.getByRole('dialog', { name: title }).waitFor()
    await receiver.keyboard.press('Escape')
    await receiver.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => new URL(receiver.url()).searchParams.get('open')).toBeNull()
    expect(await receiver.evaluate('window.dialogs')).toBe(1)
  }

  test('opens the windows of projects', async () => {
    await sharesWindow('/app', [['button', 'New project']], 'New project')
    for (const [item, title] of [
      ['Rename…', 'Rename “support”'],
      ['Delete…', 'Delete “support”?'],
    ] as const) {
      await sharesWindow(
        '/app',
        [
          ['button', 'More for support'],
          ['menuitem', item],
        ],
        title,
      )
    }
    await sharesWindow(
      `${project}/logs`,
      [
        ['button', 'Views'],
        ['button', 'Save as a new view…'],
      ],
      'Save this view',
    )
    await sender.goto(`${service.url}/app`)
    await sender.getByRole('heading', { name: 'Projects' }).waitFor()
    await sender.keyboard.press('?')
    await sender.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await receiver.goto(sender.url())
    await receiver.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  })

  test('opens the windows of experiments and datasets', async () => {
    const chosen = `${project}/experiments?chosen=${ids.first}`
    await sharesWindow(chosen, [['button', 'Rename']], 'Rename “first”')
    await sharesWindow(`${chosen},${ids.second}`, [['button', 'Delete']], 'Delete 2 experiments?')
    await sharesWindow(`${project}/datasets`, [['button', 'New dataset']], 'New dataset')
    const one = `${project}/datasets?chosen=${ids.dataset}`
    await sharesWindow(one, [['button', 'Delete']], 'Delete “questions”?')
    const dataset = `${project}/datasets/questions`
    await sharesWindow(dataset, [['button', 'Import']], 'Import records')
    await sharesWindow(
      dataset,
      [
        ['button', 'Snapshot'],
        ['menuitem', 'Name this version…'],
      ],
      'Name this version',
    )
    await sender.goto(service.url + dataset)
    await sender.getByRole('button', { name: 'Add record' }).click()
    await sender.getByRole('region', { name: 'New record' }).waitFor()
    await receiver.goto(sender.url())
    await receiver.getByRole('region', { name: 'New record' }).waitFor()
  })

  test('opens the windows of the query page, and the language that lines are in', async () => {
    const query = `${project}/query?q=${encodeURIComponent(`select: id | from: project_logs('${ids.project}')`)}`
    await sharesWindow(query, [['button', 'Saved']], 'Saved queries')
    await sharesWindow(query, [['button', 'History']], 'History')
    await sharesWindow(
      query,
      [
        ['button', 'Copy as…'],
        ['tab', 'Python'],
      ],
      'Run it elsewhere',
    )
    await receiver.goto(sender.url())
    await receiver.locator('pre.code').getByText('import ').first().waitFor()
    expect(await receiver.getByRole('tab', { name: 'Python' }).getAttribute('aria-selected')).toBe(
      'true',
    )
  })

  test('opens the windows of the settings, but shows no secret', async () => {
    const settings = (tab: string) => `/app/default/settings?tab=${tab}`
    await sharesWindow(settings('keys'), [['button', 'New key']], 'New API key')
    await sharesWindow(settings('keys'), [['button', 'Revoke laptop']], 'Revoke “laptop”?')
    await sharesWindow(settings('members'), [['button', 'Invite']], 'Invite')
    await sharesWindow(settings('groups'), [['button', 'Change Owners']], 'Change “Owners”')
    await sharesWindow(settings('roles'), [['button', 'New role']], 'New role')
    await sharesWindow(settings('grants'), [['button', 'New grant']], 'New grant')
    await sharesWindow(settings('tokens'), [['button', 'New token']], 'New service token')
    await sharesWindow(settings('secrets'), [['button', 'New AI secret']], 'New AI secret')
    const everywhere = 'Sign out everywhere'
    await sharesWindow(settings('you'), [['button', everywhere]], `${everywhere}?`)
    await sender.goto(service.url + settings('keys'))
    await sender.getByRole('button', { name: 'New key' }).click()
    await sender.getByLabel('Name').fill('desk')
    await sender.getByRole('button', { name: 'Create' }).click()
    const secret = String(await sender.locator('.secret code').textContent())
    await receiver.goto(sender.url())
    await receiver.getByRole('row', { name: /desk/ }).waitFor()
    expect(await receiver.content()).not.toContain(secret)
  })

  test('says what is compared, by which score, what is looked for, and what is open', async () => {
    await sender.goto(`${service.url}${project}/experiments?chosen=${ids.first},${ids.second}`)
    await sender.getByRole('link', { name: 'Compare' }).click()
    await sender.getByRole('button', { name: 'Regressed 2' }).click()
    await sender.getByLabel('Search').fill("metadata.model = 'two'")
    await sender.getByLabel('Search').press('Enter')
    await sender.getByText('1 example', { exact: true }).waitFor()
    const line = sender.getByRole('table', { name: 'Examples side by side' }).locator('tbody tr')
    await line.first().click()
    await sender.getByRole('region', { name: 'Example', exact: true }).waitFor()
    await receiver.goto(sender.url())
    await receiver.getByText('1 example', { exact: true }).waitFor()
    const open = receiver.getByRole('region', { name: 'Example', exact: true })
    await open.getByRole('heading', { name: 'two' }).waitFor()
    const pressed = receiver.getByRole('button', { name: 'Regressed 1' })
    expect(await pressed.getAttribute('aria-pressed')).toBe('true')
    // Words of groups are answered as groups.
    await receiver.getByLabel('Search').fill('average exact by model')
    await receiver.getByLabel('Search').press('Enter')
    await receiver.getByRole('table', { name: 'Rows' }).getByText('two').waitFor()
  })

  test('says which versions are held against each other', async () => {
    await sender.goto(`${service.url}${project}/datasets/questions`)
    await sender.getByRole('table', { name: 'Records' }).getByText('uno').waitFor()
    await choose(sender, 'Changes since', 1)
    await sender.getByRole('button', { name: 'Changed 1' }).click()
    await sender.locator('.record-difference ins').waitFor()
    await receiver.goto(sender.url())
    await receiver.locator('.record-difference ins').waitFor()
    const kind = receiver.getByRole('button', { name: 'Changed 1' })
    expect(await kind.getAttribute('aria-pressed')).toBe('true')
  })
})
