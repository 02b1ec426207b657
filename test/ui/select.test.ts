/** The page's lists to choose from, by keys alone, and as a sheet on a phone. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { RunningService } from '../support/running-service.ts'

/** A list of many: the names of experiments to add to a comparison. */
const names = ['alpha', 'beta', 'gamma', 'gauss', 'delta', ...Array.from({ length: 20 }, more)]

function more(_: unknown, i: number): string {
  return `run ${String(i).padStart(2, '0')}`
}

describe.skipIf(!hasBrowser)('a list to choose from', { timeout: 90_000 }, () => {
  let service: RunningService
  let browser: PageBrowser
  let path: string

  beforeAll(async () => {
    service = await RunningService.start()
    const project = await service.project('support')
    const ids: string[] = []
    // The newest stands first.
    for (const name of names.toReversed()) {
      ids.push(await service.create('experiment', project, name))
    }
    for (const id of ids.slice(0, 2)) {
      await service.insert('experiment', id, [{ id: 'a', input: 'one', scores: { exact: 1 } }])
    }
    path = `/app/default/p/support/experiments/${names.at(-1)}?compare=${ids[1]}`
    browser = await PageBrowser.open(service)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  const button = (page: Page) => page.getByRole('combobox', { name: 'Add', exact: true })
  const list = (page: Page) => page.getByRole('listbox', { name: 'Add', exact: true })
  const hasFocus = (page: Page) => button(page).evaluate((element) => element.matches(':focus'))

  /** What the option says that the keys are at, as those who hear the page are told. */
  async function active(page: Page): Promise<string | null> {
    const id = await button(page).getAttribute('aria-activedescendant')
    return id === null ? null : page.locator(`[id="${id}"]`).textContent()
  }

  test('is gone through by arrows, Home, End and letters, and left by Escape and Enter', async () => {
    const { page, faults } = await browser.page(path)
    const press = (key: string) => page.keyboard.press(key)
    await button(page).focus()
    await press('ArrowDown')
    await list(page).waitFor()
    await expect.poll(() => active(page)).toBe('alpha')
    await press('ArrowDown')
    await press('ArrowDown')
    await expect.poll(() => active(page)).toBe('gamma')
    await press('ArrowUp')
    await expect.poll(() => active(page)).toBe('beta')
    await press('End')
    await expect.poll(() => active(page)).toBe('run 17')
    // The last is as far as it goes, and it is in sight.
    await press('ArrowDown')
    await expect.poll(() => active(page)).toBe('run 17')
    const inSight = await list(page).evaluate((element) => {
      const box = element.getBoundingClientRect()
      const option = element.querySelector('.active')!.getBoundingClientRect()
      return option.top >= box.top - 1 && option.bottom <= box.bottom + 1
    })
    expect(inSight).toBe(true)
    await press('PageUp')
    await expect.poll(() => active(page)).toBe('run 07')
    await press('Home')
    await expect.poll(() => active(page)).toBe('alpha')
    // One letter again and again goes through all that begin with it, several find a word.
    await press('g')
    await expect.poll(() => active(page)).toBe('gamma')
    await press('g')
    await expect.poll(() => active(page)).toBe('gauss')
    await press('g')
    await expect.poll(() => active(page)).toBe('gamma')
    await press('Escape')
    await list(page).waitFor({ state: 'detached' })
    expect(await hasFocus(page)).toBe(true)
    expect(await button(page).getAttribute('aria-expanded')).toBe('false')
    // Closed, letters open it at once. They come at one time, however busy the machine is.
    await page.evaluate(`for (const key of 'gau') {
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
    }`)
    await list(page).waitFor()
    await expect.poll(() => active(page)).toBe('gauss')
    expect(await accessibilityFaults(page)).toEqual([])
    await press('Enter')
    await list(page).waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: /gauss/ }).waitFor()
    expect(await hasFocus(page)).toBe(true)
    await press(' ')
    await list(page).waitFor()
    await press('Tab')
    await list(page).waitFor({ state: 'detached' })
    expect(await hasFocus(page)).toBe(false)
    expect(faults).toEqual([])
  })

  test('is a sheet at the bottom of a phone, and closes at a tap beside it', async () => {
    const { page, faults, picture } = await browser.page(path, { width: 390, theme: 'dark' })
    await button(page).click()
    await list(page).waitFor()
    await picture('select-sheet')
    const { x, y, width, height } = (await list(page).boundingBox())!
    expect([x, width, Math.round(y + height)]).toEqual([0, 390, 860])
    expect(height).toBeLessThan(860)
    for (const option of [names[0]!, names[1]!]) {
      const box = (await list(page).getByRole('option', { name: option }).boundingBox())!
      // As large as a finger.
      expect(box.height).toBeGreaterThanOrEqual(40)
    }
    expect(await accessibilityFaults(page)).toEqual([])
    await page.mouse.click(200, 40)
    await list(page).waitFor({ state: 'detached' })
    await button(page).click()
    await list(page).getByRole('option', { name: 'beta' }).click()
    await page.getByRole('heading', { name: /beta/ }).waitFor()
    expect(faults).toEqual([])
  })
})
