/** A real browser on the web page of a running service. What goes wrong in the page fails the test. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { onTestFinished } from 'vitest'
import { testKey } from './running-service.ts'

/**
 * Of Debian's packages. The whole browser has a window, unseen, around each page: the same tests of a page take 1.3 to
 * 1.4 times as long in it.
 */
const executable = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync)

/** Without one there is nothing to look with. */
export const hasBrowser = executable !== undefined

export interface OpenPage {
  readonly page: Page
  /** Messages of the console and failures of scripts. */
  readonly faults: readonly string[]
  /** Writes a picture where ASSAY_SCREENSHOTS says, for people to look at. */
  picture(name: string): Promise<void>
}

interface Service {
  readonly url: string
}

export class PageBrowser {
  readonly #browser: Browser
  readonly #service: Service
  readonly #trustsAnyCertificate: boolean

  private constructor(browser: Browser, service: Service, trustsAnyCertificate: boolean) {
    this.#browser = browser
    this.#trustsAnyCertificate = trustsAnyCertificate
    this.#service = service
  }

  static async open(service: Service, { trustsAnyCertificate = false } = {}): Promise<PageBrowser> {
    const browser = await chromium.launch({
      executablePath: executable!,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    })
    return new PageBrowser(browser, service, trustsAnyCertificate)
  }

  /**
   * A page of the owner's, of whoever has the key, or where nobody is signed in. It is closed with the test unless it is to
   * be kept, for other tests or where there is none: what is left open goes on working, which took a quarter of the time of
   * the tests behind it.
   */
  async page(
    path: string,
    {
      theme = 'light',
      isSignedIn = true,
      key = testKey,
      width = 1360,
      isKept = false,
    }: {
      readonly theme?: 'light' | 'dark'
      readonly isSignedIn?: boolean
      readonly key?: string
      readonly width?: number
      readonly isKept?: boolean
    } = {},
  ): Promise<OpenPage> {
    const context = await this.#browser.newContext({
      colorScheme: theme,
      ignoreHTTPSErrors: this.#trustsAnyCertificate,
      viewport: { width, height: 860 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    if (!isKept) onTestFinished(() => context.close())
    if (isSignedIn) await this.#signIn(context, key)
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    await page.goto(this.#service.url + path)
    const folder = process.env.ASSAY_SCREENSHOTS
    const picture = async (name: string) => {
      if (folder) await page.screenshot({ path: join(folder, `${name}-${theme}.png`) })
    }
    return { page, faults, picture }
  }

  async close(): Promise<void> {
    await this.#browser.close()
  }

  async #signIn(context: BrowserContext, key: string): Promise<void> {
    const { headers } = await fetch(`${this.#service.url}/session`, {
      method: 'POST',
      body: JSON.stringify({ api_key: key }),
    })
    const [name, value] = headers.get('set-cookie')!.split(';')[0]!.split('=')
    await context.addCookies([
      { name: name!, value: value!, url: this.#service.url, httpOnly: true, sameSite: 'Strict' },
    ])
  }
}

/** Chooses from one of the page's lists, by what an option says, its value, or its place from 0. */
export async function choose(
  place: Page | Locator,
  label: string,
  option: string | number,
): Promise<void> {
  await place.getByRole('combobox', { name: label, exact: true }).click()
  const options = place.getByRole('listbox', { name: label, exact: true }).getByRole('option')
  if (typeof option === 'number') return options.nth(option).click()
  await options
    .and(place.locator(`[data-value="${option}"]`))
    .or(place.getByRole('option', { name: option, exact: true }))
    .first()
    .click()
}
