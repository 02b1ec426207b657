/** Projects as people keep them in the web page: made, found, renamed, deleted. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService } from '../support/running-service.ts'

describe.skipIf(!hasBrowser)('the page of projects', { timeout: 60_000 }, () => {
  let service: RunningService
  let browser: PageBrowser

  beforeAll(async () => {
    service = await RunningService.start()
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  test('tells whoever has none what to paste, and makes a first one', async () => {
    const { page, faults, picture } = await browser.page('/app')
    await page.getByRole('heading', { name: 'No projects yet' }).waitFor()
    await page.getByRole('tab', { name: 'curl' }).click()
    await page.getByText(`${service.url}/v1/project_logs/`).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await picture('projects-none')
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByLabel('Name', { exact: true }).fill('support')
    await page.getByLabel('Description').fill('Answers to customers')
    await picture('project-new')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'No logs yet' }).waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/app/default/p/support/home')
    expect(faults).toEqual([])
  })

  test('tells what is in each, newest first, and finds them by name', async () => {
    const busy = await service.project('busy')
    await service.project('quiet')
    await service.insert('project_logs', busy, [{ input: 'a' }, { input: 'b' }])
    const { page } = await browser.page('/app')
    await page.getByRole('link', { name: 'busy' }).getByText('2 spans').waitFor()
    await page.getByRole('link', { name: 'quiet' }).getByText('No logs yet').waitFor()
    expect(await page.locator('.card strong').first().textContent()).toBe('busy')
    await page.getByLabel('Find a project').fill('qui')
    await expect.poll(() => page.locator('.card').count()).toBe(1)
    await expect.poll(() => new URL(page.url()).searchParams.get('find')).toBe('qui')
  })

  test('renames one, and deletes one only once its name was written', async () => {
    await service.project('wrong')
    const { page, picture } = await browser.page('/app')
    await page.getByRole('button', { name: 'More for wrong' }).click()
    await page.getByRole('menuitem', { name: 'Rename…' }).click()
    await page.getByLabel('Name', { exact: true }).fill('right')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'right' }).waitFor()
    await page.getByRole('button', { name: 'More for right' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    const sure = page.getByRole('button', { name: 'Delete', exact: true })
    expect(await sure.isDisabled()).toBe(true)
    await page.getByLabel('Type right to confirm').fill('right')
    await picture('project-delete')
    await sure.click()
    await page.getByText('Deleted the project').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'right' }).count()).toBe(0)
    const { json } = await service.request('/v1/project?project_name=right')
    expect(json.objects).toEqual([])
  })
})
