/** One trace in the web page: read, searched, judged and changed in place. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { type AnyJson, RunningService } from '../support/running-service.ts'

const logs = '/app/default/p/support/logs?live=off'

describe.skipIf(!hasBrowser)('a trace in the page', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let projectId: string

  beforeAll(async () => {
    service = await RunningService.start()
    projectId = await service.project('support')
    await service.insert('project_logs', projectId, trace)
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const stored = async (id: string): Promise<AnyJson> => {
    const { json } = await service.query(
      `select: *\nfrom: project_logs('${projectId}')\nfilter: id = '${id}'`,
    )
    return (json.data as unknown as readonly AnyJson[])[0]!
  }

  test('tells what it took and cost, and is walked through with keys', async () => {
    const { page, faults, picture } = await browser.page(`${logs}&trace=root`)
    await page.getByText('4 spans').waitFor()
    const totals = await page.locator('.totals').textContent()
    for (const told of ['10.0 s', '1 model call', '1,234 tokens', '$0.02', '1 error']) {
      expect(totals).toContain(told)
    }
    const lines = page.getByRole('treeitem')
    const facts = 'gpt-4o · 1,234 tokens · $0.020 · first token 400 ms'
    await page.locator('[role=treeitem]', { hasText: 'answer' }).getByText(facts).waitFor()
    await lines.first().focus()
    await page.keyboard.press('ArrowDown')
    await page.locator('[role=treeitem][aria-selected=true]', { hasText: 'look up' }).waitFor()
    await page.getByRole('article', { name: 'Span look up' }).getByText('no such order').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => lines.count()).toBe(1)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('End')
    await page.locator('[role=treeitem][aria-selected=true]', { hasText: 'judge' }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('span')).toBe('judge')
    expect(await accessibilityFaults(page)).toEqual([])
    await picture('trace-keys')
    expect(faults).toEqual([])
  })

  test('finds spans by their names and by what is in them', async () => {
    const { page, faults } = await browser.page(`${logs}&trace=root`)
    await page.getByLabel('Find in this trace').fill('parcel')
    await page.getByText('1 found').waitFor()
    await page.locator('[role=treeitem]', { hasText: 'answer' }).waitFor()
    await expect.poll(() => page.getByRole('treeitem').count()).toBe(2)
    await page.locator('[role=treeitem]', { hasText: 'answer' }).click()
    await page.locator('mark', { hasText: 'parcel' }).first().waitFor()
    expect(faults).toEqual([])
  })

  test('renders Markdown, pictures and sound, and asks nothing of other servers', async () => {
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const file = { key: 'cat', filename: 'cat.png', content_type: 'image/png' }
    const announced = await service.request('/attachment', { body: file })
    const { pathname, search } = new URL(String(announced.json.signedUrl))
    await service.request(pathname + search, {
      method: 'PUT',
      key: null,
      body: Buffer.from(pixel, 'base64'),
      headers: { 'content-type': 'image/png' },
    })
    const outside = 'https://outside.example/x.png'
    await service.insert('project_logs', projectId, [
      {
        ...{ id: 'rich', span_id: 'rich', root_span_id: 'rich' },
        input: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
              { type: 'image_url', image_url: { url: outside } },
              { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
            ],
          },
          {
            role: 'assistant',
            tool_calls: [{ id: '1', function: { name: 'look', arguments: '{"at":"cat"}' } }],
          },
          { role: 'tool', tool_call_id: '1', content: 'a cat' },
        ],
        output: `# A cat\n\n| size | age |\n| --- | --: |\n| **big** | 3 |\n\n\`\`\`ts\ncat()\n\`\`\`\n\n<img src="${outside}" onerror="document.title='run'"><script>document.title='run'</script>\n\n![no](${outside}) [bad](javascript:alert(1)) [there](https://outside.example/)`,
        metadata: { picture: { type: 'braintrust_attachment', ...file } },
      },
    ])
    const { page, faults, picture } = await browser.page(`${logs}&trace=rich`)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.reload()
    const output = page.getByRole('region', { name: 'output', exact: true })
    await output.getByRole('cell', { name: 'big' }).waitFor()
    await output.locator('.code-block', { hasText: 'cat()' }).waitFor()
    await output.getByText('onerror').waitFor()
    expect(await output.locator('img, script').count()).toBe(0)
    expect(await output.getByRole('link', { name: 'bad' }).count()).toBe(0)
    const there = output.getByRole('link', { name: 'there' })
    expect(await there.getAttribute('rel')).toContain('noopener')
    const input = page.getByRole('region', { name: 'input', exact: true })
    const isDrawn = 'document.querySelector(".message img").naturalWidth === 1'
    await expect.poll(() => page.evaluate(isDrawn)).toBe(true)
    await input.locator('audio').waitFor()
    await input.getByRole('link', { name: outside }).waitFor()
    // The result stands beside the call, and not once more below it.
    await input.locator('.beside-result', { hasText: 'calls look' }).getByText('a cat').waitFor()
    expect(await input.getByText('a cat').count()).toBe(1)
    const metadata = page.getByRole('region', { name: 'metadata', exact: true })
    await metadata.getByRole('img', { name: 'cat.png' }).waitFor()
    await output.getByRole('button', { name: 'As written' }).click()
    await output.getByText('# A cat').waitFor()
    const elsewhere = asked.filter((url) => !url.startsWith(service.url) && !/^data:/.test(url))
    expect(elsewhere).toEqual([])
    expect(await page.title()).not.toBe('run')
    expect(await accessibilityFaults(page)).toEqual([])
    await picture('trace-rich')
    // Its own page is an entry of the history.
    await page.getByRole('button', { name: 'Full page' }).click()
    await page.getByLabel('Search', { exact: true }).waitFor({ state: 'hidden' })
    await page.goBack()
    await page.getByLabel('Search', { exact: true }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('trace')).toBe('rich')
    expect(faults).toEqual([])
  })

  test('two stand side by side: spans in one tree, and what differs in what they said', async () => {
    const span = (trace: string, name: string, more: object) => ({
      ...{ id: `${trace}-${name}`, span_id: `${trace}-${name}`, root_span_id: `${trace}-task` },
      ...(name !== 'task' && { span_parents: [`${trace}-task`] }),
      span_attributes: { name, type: name === 'task' ? 'task' : 'tool' },
      ...more,
    })
    const times = (start: number, end: number) => ({ metrics: { start, end, tokens: end * 10 } })
    await service.insert('project_logs', projectId, [
      span('one', 'task', { input: 'Where?', output: 'It is in Hamburg', ...times(0, 4) }),
      span('one', 'find', { output: 'Hamburg', ...times(1, 2) }),
      span('two', 'task', { input: 'Where?', output: 'It is in Berlin', ...times(0, 7) }),
      span('two', 'ask', { output: 'nobody', ...times(1, 2), error: 'no answer' }),
      span('two', 'find', { output: 'Berlin', ...times(2, 6) }),
    ])
    // From an open trace: another of its name.
    const { page, faults, picture } = await browser.page(`${logs}&trace=one-task`)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('group', { name: 'Compare' }).getByRole('link').first().click()
    const compared = page.getByRole('region', { name: 'Two traces' })
    const took = compared.getByRole('table', { name: 'What the traces took' })
    await took.getByRole('row', { name: /^Duration 4.00 s 7.00 s \+3.00 s/ }).waitFor()
    await took.getByRole('row', { name: /^Errors 0 1 \+1/ }).waitFor()
    const output = compared.locator('section.output')
    await output.locator('del', { hasText: 'Hamburg' }).waitFor()
    await output.locator('ins', { hasText: 'Berlin' }).waitFor()
    await compared.getByText('Input: the same in both').waitFor()
    const lines = compared.getByRole('table', { name: 'Spans side by side' }).locator('tbody tr')
    const texts = async () => (await lines.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
    expect(await texts()).toEqual([
      'task task 4.00 s 7.00 s',
      'tool ask only in the second – 1.00 s',
      'tool find 1.00 s 4.00 s',
    ])
    await compared.getByRole('button', { name: 'tool find' }).click()
    await compared.getByRole('article', { name: 'Span find' }).locator('ins').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await picture('trace-compared')
    // A link shows others the same, on a phone too: one under the other.
    const link = page.url().slice(service.url.length)
    const phone = await browser.page(link, { width: 390, theme: 'dark' })
    await phone.page.getByRole('article', { name: 'Span find' }).locator('ins').waitFor()
    const widths =
      '(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector(".trace"))'
    const [needed, given] = await phone.page.evaluate<[number, number]>(widths)
    expect(needed).toBeLessThanOrEqual(given)
    expect(given).toBeLessThanOrEqual(390)
    expect(await accessibilityFaults(phone.page)).toEqual([])
    await page.getByRole('button', { name: 'Close the comparison' }).click()
    await page.getByRole('region', { name: 'Trace', exact: true }).waitFor()
    // Or two that are selected.
    await page.goto(
      `${service.url}${logs}&q=${encodeURIComponent("span_attributes.name = 'task'")}`,
    )
    const table = page.getByRole('table', { name: 'Logs' })
    await expect.poll(() => table.locator('tbody input').count()).toBe(2)
    for (const box of await table.locator('tbody input').all()) await box.click()
    await page.getByRole('toolbar', { name: 'Selection' }).getByText('Compare').click()
    await took.waitFor()
    expect([...faults, ...phone.faults]).toEqual([])
  })

  test('shows messages as a chat, and the JSON behind it, which can be searched and copied', async () => {
    const { page, faults, picture } = await browser.page(`${logs}&trace=root&span=answer`)
    const input = page.getByRole('region', { name: 'input', exact: true })
    await input.locator('.message.user').getByText('Where is my order?').waitFor()
    await input.locator('.tool-call').getByText('calls look_up').waitFor()
    await picture('trace-chat')
    await input.getByRole('button', { name: 'JSON' }).click()
    await input.getByLabel('Find in input').fill('look_up')
    await input.getByText('1 found').waitFor()
    await input.getByRole('button', { name: 'Copy' }).click()
    await input.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(JSON.parse(copied)).toEqual(trace[2]!.input)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    expect((await saved).suggestedFilename()).toBe('span-answer.json')
    expect(faults).toEqual([])
  })

  test('takes scores, tags, what was expected and comments, and keeps all else', async () => {
    const { page, faults, picture } = await browser.page(`${logs}&trace=root&span=answer`)
    const scores = page.getByRole('region', { name: 'Scores' })
    await scores.getByRole('button', { name: /Politeness/ }).click()
    await scores.getByLabel('Score Politeness in per cent').fill('40')
    await scores.getByRole('button', { name: 'Give' }).click()
    await scores.getByRole('button', { name: 'Politeness 40.0 %' }).waitFor()
    await scores.getByRole('button', { name: '+ Score' }).click()
    await scores.getByLabel('Name of the score').fill('Helpful')
    await scores.getByLabel('Score in per cent').fill('75')
    await scores.getByRole('button', { name: 'Give' }).click()
    await scores.getByRole('button', { name: 'Helpful 75.0 %' }).waitFor()

    const tags = page.getByRole('region', { name: 'Tags' })
    await tags.getByRole('button', { name: '+ Tag' }).click()
    await tags.getByLabel('New tag').fill('reviewed')
    await tags.getByLabel('New tag').press('Enter')
    await tags.getByText('reviewed').waitFor()
    await tags.getByRole('button', { name: 'Remove the tag first' }).click()
    await expect.poll(() => tags.locator('.tag').count()).toBe(1)

    await page.getByRole('button', { name: '+ Say what was expected' }).click()
    await page.getByLabel('Expected', { exact: true }).fill('{"answer": "tomorrow"}')
    await picture('trace-expected')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('region', { name: 'expected' }).getByText('"tomorrow"').waitFor()

    await page.getByLabel('Comment', { exact: true }).fill('Too vague.')
    await page.getByLabel('Comment', { exact: true }).press('Control+Enter')
    await page.getByRole('region', { name: 'Comments' }).getByText('Too vague.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await picture('trace-judged')

    const record = await stored('answer')
    expect(record.scores).toEqual({ Politeness: 0.4, Helpful: 0.75 })
    expect(record.tags).toEqual(['reviewed'])
    expect(record.expected).toEqual({ answer: 'tomorrow' })
    expect(record.output).toEqual(trace[2]!.output)
    expect(faults).toEqual([])
  })

  test('takes a score and an expected value away again', async () => {
    const { page } = await browser.page(`${logs}&trace=root&span=root`)
    const scores = page.getByRole('region', { name: 'Scores' })
    await scores.getByRole('button', { name: /Quality/ }).click()
    await scores.getByLabel('Score Quality in per cent').fill('')
    await scores.getByRole('button', { name: 'Give' }).click()
    await scores.getByRole('button', { name: 'Quality –' }).waitFor()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByLabel('Expected', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: '+ Say what was expected' }).waitFor()
    const record = await stored('root')
    expect(record.expected ?? null).toBeNull()
    expect(record.scores?.Quality ?? null).toBeNull()
  })
})

const start = 1_750_000_000
const trace = [
  {
    id: 'root',
    span_id: 'root',
    root_span_id: 'root',
    span_attributes: { name: 'support', type: 'task' },
    input: 'Where is my order?',
    output: 'On its way.',
    expected: 'Tomorrow.',
    scores: { Quality: 0.5 },
    metrics: { start, end: start + 10 },
  },
  {
    id: 'look-up',
    span_id: 'look-up',
    root_span_id: 'root',
    span_parents: ['root'],
    span_attributes: { name: 'look up', type: 'tool' },
    input: { order: 12 },
    error: 'no such order',
    metrics: { start: start + 1, end: start + 2 },
  },
  {
    id: 'answer',
    span_id: 'answer',
    root_span_id: 'root',
    span_parents: ['root'],
    span_attributes: { name: 'answer', type: 'llm' },
    input: [
      { role: 'system', content: 'You help customers.' },
      { role: 'user', content: 'Where is my order?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', function: { name: 'look_up', arguments: '{"order":12}' } }],
      },
      { role: 'tool', content: 'no such order' },
    ],
    output: { choices: [{ message: { role: 'assistant', content: 'Your parcel is near.' } }] },
    tags: ['first'],
    scores: { Politeness: 0.9 },
    metadata: { model: 'gpt-4o' },
    metrics: {
      start: start + 3,
      end: start + 8,
      total_tokens: 1234,
      estimated_cost: 0.02,
      time_to_first_token: 0.4,
    },
  },
  {
    id: 'judge',
    span_id: 'judge',
    root_span_id: 'root',
    span_parents: ['root'],
    span_attributes: { name: 'judge', type: 'score' },
    scores: { Factuality: 0.25 },
    metrics: { start: start + 8, end: start + 10 },
  },
]
