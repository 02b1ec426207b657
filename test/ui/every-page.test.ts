/** Every page and every window, at the widths of screens and in both themes: everybody can read it, and nothing jumps. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, type OpenPage, PageBrowser } from '../support/browser.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { everyPage, type Shown, windows, windowsInSource } from '../support/page-list.ts'
import { fillPageWorld, type PageWorld } from '../support/page-world.ts'
import { isSlow } from '../support/random-seed.ts'
import { RunningService } from '../support/running-service.ts'

/** The sum of the layout shifts from the first paint until the page is settled. */
const mostShift = 0.05

const folder = mkdtempSync(join(tmpdir(), 'assay-exports-'))

interface Screen {
  readonly width: number
  readonly theme: 'light' | 'dark'
  readonly isSignedIn: boolean
  readonly key?: string
}

interface Shift {
  readonly value: number
  readonly nodes: readonly string[]
}

/** Evaluated in each page before its own scripts; what a person does shortly before is no shift. */
const watch = `(() => {
  window.shifts = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      const nodes = sources.map(({ node }) => node?.className || node?.nodeName || '')
      if (!hadRecentInput) window.shifts.push({ value, nodes })
    }
  }).observe({ type: 'layout-shift', buffered: true })
})()`

const themes = ['light', 'dark'] as const

/**
 * The screens that each is looked at on. Usually each width has one theme, and what is first of a page is
 * looked at in all widths, the rest in one of them in turn.
 */
const looks = everyPage(() => '').flatMap(({ name, isFirst = false }, place) =>
  [1440, 1024, 390].flatMap((width, w) =>
    themes.flatMap((theme, t) => {
      const isTurn = (isFirst || w === place % 3) && t === w % 2
      return isSlow || isTurn ? [{ name, width, theme }] : []
    }),
  ),
)

/** Those that are as their address says. */
const pagesAsTheyCome = everyPage(() => '').flatMap(({ name, act, isSignedOut, isOfReader }) =>
  act || isSignedOut || isOfReader ? [] : [name],
)

/** Those that have more in them for who may change what they show. */
const changeable = ['dataset', 'dataset-record', 'dataset-add', 'logs-trace-wide', 'review-record']

/** Longer than all other answers take. */
const rightsDelayMs = 700

function expectNoJump(shifts: readonly Shift[]): void {
  const sum = shifts.reduce((total, { value }) => total + value, 0)
  const told = shifts.map(({ value, nodes }) => `${value.toFixed(3)} ${nodes.join(', ')}`)
  expect(sum, told.join('; ')).toBeLessThanOrEqual(mostShift)
}

describe.skipIf(!hasBrowser)('every page and every window', () => {
  let service: RunningService
  let browser: PageBrowser
  let world: PageWorld
  const opened = new Map<string, OpenPage>()

  beforeAll(async () => {
    // Nobody listens where the export to ClickHouse leads.
    const environment = { ASSAY_EXPORT_FOLDERS: folder, ASSAY_CLICKHOUSE: 'http://127.0.0.1:9' }
    service = await RunningService.start(environment)
    world = await fillPageWorld(service, folder)
    browser = await PageBrowser.open(service)
  }, 240_000)

  afterAll(async () => {
    await browser.close()
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function shownOf(name: string): Shown {
    const id = (of: string) => world.ids.get(of) ?? `no ${of}`
    return everyPage(id).find((each) => each.name === name)!
  }

  /** One page for each screen, so that what is loaded once is there for the next. */
  async function pageOf(screen: Screen): Promise<OpenPage> {
    const key = JSON.stringify(screen)
    const known = opened.get(key)
    if (known) return known
    const made = await browser.page('/ping', { ...screen, isKept: true })
    await made.page.addInitScript(watch)
    opened.set(key, made)
    return made
  }

  test.each(looks)('$name, $width pixels wide, $theme', async ({ name, width, theme }) => {
    const shown = shownOf(name)
    const { page, picture } = await pageOf({
      ...{ width, theme, isSignedIn: !shown.isSignedOut },
      ...(shown.isOfReader && { key: world.viewerKey }),
    })
    await page.goto(service.url + encodeURI(shown.path), { waitUntil: 'networkidle' })
    await page.locator(shown.last).first().waitFor()
    await page.locator('.loading').first().waitFor({ state: 'detached' })
    const shifts = await page.evaluate<Shift[]>('window.shifts')
    if (shown.act) {
      await shown.act(page)
      await page.waitForLoadState('networkidle')
    }
    await picture(`${name}-${width}`)
    expect(await accessibilityFaults(page)).toEqual([])
    expectNoJump(shifts)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })

  test.each(isSlow ? pagesAsTheyCome : changeable)(
    '%s does not jump where it is known last what one may do',
    async (name) => {
      const shown = shownOf(name)
      const { page } = await browser.page('/ping', { width: 1440 })
      await page.addInitScript(watch)
      await page.route('**/session/rights?*', async (route) => {
        const response = await route.fetch()
        await delay(rightsDelayMs)
        await route.fulfill({ response })
      })
      await page.goto(service.url + encodeURI(shown.path), { waitUntil: 'networkidle' })
      await page.locator(shown.last).first().waitFor()
      expectNoJump(await page.evaluate<Shift[]>('window.shifts'))
    },
  )

  test('are all of the windows that the sources have', () => {
    const listed = new Map<string, number>()
    for (const { window = '' } of windows(() => '')) {
      listed.set(window, (listed.get(window) ?? 0) + 1)
    }
    for (const [file, count] of windowsInSource()) {
      expect(listed.get(file) ?? 0, file).toBeGreaterThanOrEqual(count)
    }
  })
})
