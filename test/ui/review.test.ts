/** Human review in the page: a queue is made, answered by two people at once, and looked at by a reader. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { choose, hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { type AnyJson, RunningService, testKey } from '../support/running-service.ts'

const project = '/app/default/p/support'

describe.skipIf(!hasBrowser)('review', { timeout: 90_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let projectId: string
  let dataset: string
  const keys = new Map([['owner', testKey]])
  const people = new Map<string, string>()

  beforeAll(async () => {
    service = await RunningService.start()
    projectId = await service.project('support')
    await service.insert(
      'project_logs',
      projectId,
      Array.from({ length: 6 }, (_, i) => ({
        id: `r${i}`,
        input: `Question ${i}`,
        output: `Answer ${i}`,
        created: new Date(Date.now() - 60_000 + i * 1000).toISOString(),
        metadata: { topic: i < 3 ? 'billing' : 'shipping' },
      })),
    )
    dataset = await service.create('dataset', projectId, 'questions')
    await service.insert('dataset', dataset, [{ id: 'd0', input: 'What is a refund?' }])
    const scores = [
      {
        name: 'correct',
        score_type: 'categorical',
        categories: [
          { name: 'Right', value: 1 },
          { name: 'Wrong', value: 0 },
        ],
      },
      { name: 'tone', score_type: 'slider' },
      { name: 'why', score_type: 'free-form' },
    ]
    for (const score of scores) {
      await service.request('/v1/project_score', { body: { project_id: projectId, ...score } })
    }
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
      people.set(who, String(json.user_id))
    }
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const open = (path: string, who: string, width?: number, theme?: 'light' | 'dark') =>
    browser.page(path, {
      key: keys.get(who)!,
      ...(width !== undefined && { width }),
      ...(theme && { theme }),
    })

  async function rowsOf(text: string): Promise<readonly AnyJson[]> {
    const { json } = await service.query(text)
    return json.data as unknown as readonly AnyJson[]
  }

  const shows = (page: Page, text: string) =>
    page.getByRole('article', { name: 'Record' }).getByText(text).waitFor()

  let queue: string

  test('takes selected rows of the logs into a queue', async () => {
    const { page, faults, picture } = await open(`${project}/logs`, 'owner')
    await page.getByLabel('Select row 4', { exact: true }).click()
    await page.getByLabel('Select row 6', { exact: true }).click({ modifiers: ['Shift'] })
    await page.getByRole('button', { name: 'Review', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('billing answers')
    await picture('review-new')
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'billing answers' }).waitFor()
    await shows(page, 'Question 2')
    await page.getByText('All: 0 of 3').waitFor()
    queue = new URL(page.url()).pathname
    expect(faults).toEqual([])
  })

  test('is answered by keys, and by two people at once without a loss', async () => {
    const owner = await open(queue, 'owner')
    const engineer = await open(queue, 'engineer')
    const answers = [
      ['1', '9'],
      ['2', '3'],
      ['1', '8'],
    ]
    const others = [
      ['1', '7'],
      ['1', '1'],
      ['1', '6'],
    ]
    const answer = async ({ page }: { readonly page: Page }, all: string[][]) => {
      for (const [i, [category, slider]] of all.entries()) {
        await shows(page, `Question ${2 - i}`)
        await page.keyboard.press(category!)
        await page.keyboard.press(slider!)
        await page.keyboard.press('Enter')
      }
      await page.getByText('You have reviewed everything').waitFor()
    }
    await Promise.all([answer(owner, answers), answer(engineer, others)])
    const records = await rowsOf(
      `select: id, audit_data, scores | from: project_logs('${projectId}') | filter: metadata.topic = 'billing' | sort: id`,
    )
    for (const [i, { audit_data, scores }] of records.entries()) {
      const given = (audit_data as unknown as AnyJson[]).map((entry) => {
        const { user_id, review } = entry.metadata as unknown as {
          user_id: string
          review: { answers: { correct: string; tone: number } }
        }
        return [user_id === people.get('engineer') ? 'engineer' : 'owner', review.answers] as const
      })
      const words = (keysOf: string[]) => ({
        correct: keysOf[0] === '1' ? 'Right' : 'Wrong',
        tone: Number(keysOf[1]) / 10,
      })
      expect(Object.fromEntries(given)).toEqual({
        owner: words(answers[2 - i]!),
        engineer: words(others[2 - i]!),
      })
      expect(Object.keys(scores as object).sort()).toEqual(['correct', 'tone'])
    }
    await owner.page.reload()
    await owner.page.getByText('You: 3 of 3 · All: 3 of 3').waitFor()
    await owner.page.getByRole('tab', { name: 'Results' }).click()
    const agreement = owner.page.getByRole('table', { name: 'Agreement' })
    await agreement.getByRole('row', { name: 'correct 3 66.7 % 0.00 –' }).waitFor()
    await agreement.getByRole('row', { name: 'tone 3 – – 20.0 points' }).waitFor()
    await owner.page
      .getByRole('table', { name: 'Reviewers' })
      .getByText('engineer@example.com')
      .waitFor()
    await owner.picture('review-results')
    expect(await accessibilityFaults(owner.page)).toEqual([])
    expect([...owner.faults, ...engineer.faults]).toEqual([])
  })

  test('goes back and skips, keeps free text, and shows what one has answered', async () => {
    const { page, faults, picture } = await open(`${queue}?row=r2`, 'engineer')
    await shows(page, 'Question 2')
    expect(await page.getByLabel('Right').isChecked()).toBe(true)
    await page.keyboard.press('s')
    await shows(page, 'Question 1')
    await page.keyboard.press('b')
    await shows(page, 'Question 2')
    await page.getByRole('textbox', { name: 'why' }).fill('12 s is too long')
    await picture('review-record')
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Control+Enter')
    await page.getByText('You have reviewed everything').waitFor()
    const text = `select: metadata | from: project_logs('${projectId}') | filter: id = 'r2'`
    expect(await rowsOf(text)).toEqual([
      { metadata: { topic: 'billing', why: '12 s is too long' } },
    ])
    expect(faults).toEqual([])
  })

  test('deals records out among the members it is assigned to, of what a search finds', async () => {
    const { page, faults, picture } = await open(`${project}/review`, 'owner')
    await page.getByRole('button', { name: 'New queue' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('shipping')
    await dialog.getByLabel('That match').fill("metadata.topic = 'shipping'")
    await dialog.getByLabel('engineer@example.com').check()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('All reviewers: 0 of 3').waitFor()
    // The owner is no reviewer of it: looks, and does not answer.
    await page.getByText('answering them is up to their reviewers').waitFor()
    expect(await page.getByLabel('Right').count()).toBe(0)
    const theirs = await open(new URL(page.url()).pathname, 'engineer')
    await theirs.page.getByText('You: 0 of 3 · All reviewers: 0 of 3').waitFor()
    await page.goto(`${service.url}${project}/review`)
    await page.getByRole('link', { name: 'billing answers' }).waitFor()
    await picture('review-list')
    expect(await accessibilityFaults(page)).toEqual([])
    expect([...faults, ...theirs.faults]).toEqual([])
  })

  test('is changed later, and hides what others said from whoever is not done', async () => {
    const { page, faults, picture } = await open(`${project}/review`, 'owner')
    await page.getByRole('button', { name: 'Change shipping' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change “shipping”' })
    await dialog.getByLabel('Name', { exact: true }).fill('shipping, anew')
    await dialog.getByLabel('why', { exact: true }).uncheck()
    expect(await dialog.getByLabel('engineer@example.com').isChecked()).toBe(true)
    await dialog.getByLabel('once they have answered all of theirs').check()
    await picture('review-change')
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /shipping, anew.*correct, tone(?!, why)/ }).waitFor()
    await page.getByRole('link', { name: 'shipping, anew' }).click()
    await page.getByText('All reviewers: 0 of 3').waitFor()
    const theirs = await open(`${new URL(page.url()).pathname}?tab=results`, 'engineer')
    await theirs.page.getByText('Not before you have answered').waitFor()
    expect([...faults, ...theirs.faults]).toEqual([])
  })

  test('keeps an answer for whoever is signed in, whatever the page says', async () => {
    const body = {
      events: [
        {
          id: 'r5',
          _is_merge: true,
          scores: { tone: 0.5 },
          _audit_source: 'app',
          _audit_metadata: {
            user_id: people.get('viewer'),
            review: { queue_id: queue.split('/').at(-1), answers: { correct: 'Right', tone: 0.5 } },
          },
        },
      ],
    }
    const path = `/v1/project_logs/${projectId}/insert`
    const key = keys.get('engineer')!
    expect((await service.request(path, { body, key })).status).toBe(200)
    const text = `select: audit_data | from: project_logs('${projectId}') | filter: id = 'r5'`
    const [row] = await rowsOf(text)
    expect(row!.audit_data).toMatchObject([{ metadata: { user_id: people.get('engineer') } }])
  })

  test('lists answers of hundreds of records by pages', async () => {
    const id = await service.project('many answers')
    const records = Array.from({ length: 230 }, (_, i) => `m${i}`)
    const review = {
      ...{ object_type: 'project_logs', object_id: id, records, scores: ['suits'] },
      ...{ reviewers: [], answers_per_record: null },
    }
    const score = { project_id: id, name: 'suits', score_type: 'slider' }
    await service.request('/v1/project_score', { body: score })
    const { json } = await service.request('/v1/view', {
      body: {
        ...{ object_type: 'project', object_id: id, view_type: 'for_review_project_log' },
        ...{ name: 'all', view_data: { review } },
      },
    })
    const given = { queue_id: String(json.id), answers: { suits: 0.5 } }
    await service.insert(
      'project_logs',
      id,
      records.map((each) => ({
        ...{ id: each, input: each, _audit_source: 'app', _audit_metadata: { review: given } },
      })),
    )
    const path = `/app/default/p/many%20answers/review/${String(json.id)}?tab=results`
    const { page, faults } = await open(path, 'owner')
    await page.getByText('1 – 100 of 230 answered records').waitFor()
    const pages = page.getByRole('navigation', { name: 'Pages' })
    await pages.getByRole('link', { name: 'Next' }).click()
    await pages.getByRole('link', { name: 'Next' }).click()
    await page.getByText('201 – 230 of 230 answered records').waitFor()
    const table = page.getByRole('table', { name: 'Answers' })
    expect(await table.locator('tbody tr').count()).toBe(30)
    expect(faults).toEqual([])
  })

  test('asks for a new score of records of a dataset, on a phone', async () => {
    const { page, faults, picture } = await open(`${project}/review?open=new`, 'owner', 390, 'dark')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('dataset check')
    await dialog.getByLabel('Records of').waitFor()
    await choose(page, 'Records of', 'Dataset questions')
    for (const name of ['correct', 'tone', 'why']) await dialog.getByLabel(name).uncheck()
    await dialog.getByText('New score').click()
    await dialog.getByLabel('Name of the score').fill('fit')
    await dialog.getByRole('textbox', { name: 'Categories' }).fill('Keep, Mend = 40, Drop')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await shows(page, 'What is a refund?')
    await page.getByLabel('Mend').check()
    await picture('review-phone')
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(390)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('You have reviewed everything').waitFor()
    const [row] = await rowsOf(`select: metadata | from: dataset('${dataset}')`)
    expect(row).toEqual({ metadata: { fit: 'Mend' } })
    const { json } = await service.request('/v1/project_score?project_score_name=fit')
    expect(json.objects).toMatchObject([
      {
        categories: [
          { name: 'Keep', value: 1 },
          { name: 'Mend', value: 0.4 },
          { name: 'Drop', value: 0 },
        ],
      },
    ])
    expect(faults).toEqual([])
  })

  test('shows a reader the records and no controls', async () => {
    const { page, faults } = await open(`${queue}?row=r1`, 'viewer')
    await shows(page, 'Question 1')
    await page.waitForLoadState('networkidle')
    expect(await page.getByRole('radio').count()).toBe(0)
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Next' }).click()
    await shows(page, 'Question 0')
    const list = await open(`${project}/review?open=new`, 'viewer')
    await list.page.getByRole('link', { name: 'billing answers' }).waitFor()
    await list.page.waitForLoadState('networkidle')
    expect(await list.page.getByRole('dialog').count()).toBe(0)
    expect(await list.page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    expect([...faults, ...list.faults]).toEqual([])
  })
})
