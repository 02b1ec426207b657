/** Signing in and out by a real provider in a real browser, as people see it. */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { callbackPath } from '../../src/server/openid/sign-in.ts'
import { hasBrowser, type OpenPage, PageBrowser } from '../support/browser.ts'
import { IdentityProvider } from '../support/identity-provider.ts'
import { accessibilityFaults } from '../support/page-faults.ts'
import { ProvidedService } from '../support/provider-sign-in.ts'
import { RunningService, testKey } from '../support/running-service.ts'

const label = 'Sign in with Example'

async function atProvider(page: Page, name: string, act = 'Continue'): Promise<void> {
  await page.getByLabel('Who are you?').fill(name)
  await page.getByRole('button', { name: act }).click()
}

describe.skipIf(!hasBrowser)('sign-in by a provider', () => {
  let provided: ProvidedService
  let browser: PageBrowser

  beforeAll(async () => {
    provided = await ProvidedService.start({
      ASSAY_OIDC_LABEL: label,
      ASSAY_OIDC_OWNERS: 'first@example.com',
      ASSAY_OIDC_GROUPS_CLAIM: 'groups',
      ASSAY_OIDC_GROUPS: 'staff=Engineers',
    })
    const person = (name: string, more: object = {}) => {
      provided.idp.people.set(name, { email: `${name}@example.com`, email_verified: true, ...more })
    }
    person('first')
    person('ada', { groups: ['staff'] })
    person('stranger')
    provided.provide()
    browser = await PageBrowser.open(provided.service)
    await provided.service.project('support')
  })
  afterEach(async () => {
    if (provided.idp.clockMs !== 0) {
      provided.idp.clockMs = 0
      provided.provide()
    }
  })
  afterAll(async () => {
    await browser.close()
    await provided.stop()
  })

  /** Where nobody is signed in, in a browser without cookies. */
  async function open(path: string, more: object = {}): Promise<OpenPage> {
    return browser.page(path, { isSignedIn: false, ...more })
  }

  const button = (page: Page) => page.getByRole('link', { name: label })

  test('makes an owner of the first person, if the operator has said so, and brings them back', async () => {
    const { page, picture } = await open('/app/default/settings?tab=members')
    await button(page).waitFor()
    await picture('openid-sign-in')
    await button(page).click()
    await atProvider(page, 'first')
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await expect
      .poll(() => page.url())
      .toBe(`${provided.service.url}/app/default/settings?tab=members`)
    await page.getByText('first@example.com').first().waitFor()
    await picture('openid-first')
    expect(await provided.groups('first@example.com')).toEqual(['Owners'])
  })

  test('gives the groups of the provider to who was invited', async () => {
    await provided.invite('ada@example.com')
    const { page } = await open('/app')
    await button(page).press('Enter')
    await atProvider(page, 'ada')
    await page.getByRole('link', { name: /support/ }).waitFor()
    expect(await provided.groups('ada@example.com')).toEqual(['Engineers'])
  })

  test('is refused to who was not, in words', async () => {
    const { page, picture, faults } = await open('/app')
    await button(page).click()
    await atProvider(page, 'stranger')
    await page.getByText('stranger@example.com has no invitation').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults.filter((fault) => !/status of 40[13]/.test(fault))).toEqual([])
    await picture('openid-refused')
    await page.getByRole('link', { name: 'Use another account' }).click()
    await atProvider(page, 'first')
    await page.getByRole('link', { name: /support/ }).waitFor()
  })

  test('can be cancelled at the provider', async () => {
    const { page } = await open('/app')
    await button(page).click()
    await atProvider(page, 'ada', 'Cancel')
    await page.getByText('access_denied (The person has cancelled)').waitFor()
  })

  test('ends at the provider, too', async () => {
    const { page } = await open('/app')
    await button(page).click()
    await atProvider(page, 'ada')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign out there' }).click()
    await button(page).waitFor()
    await expect.poll(() => page.url()).toBe(`${provided.service.url}/app`)
    // Its session is over: it asks again who it is.
    await button(page).click()
    await page.getByLabel('Who are you?').waitFor()
  })

  test('goes on in two tabs at once', async () => {
    const { page } = await open('/app')
    const other = await page.context().newPage()
    await other.goto(`${provided.service.url}/app`)
    await button(page).click()
    await page.getByLabel('Who are you?').waitFor()
    await button(other).click()
    await atProvider(other, 'ada')
    await other.getByRole('link', { name: /support/ }).waitFor()
    await atProvider(page, 'ada')
    await page.getByRole('link', { name: /support/ }).waitFor()
  })

  test('says that the provider cannot be reached, and works once it can', async () => {
    const idp = await IdentityProvider.start()
    await idp.interrupt()
    const service = await RunningService.start(idp.environment({ ASSAY_OIDC_LABEL: label }))
    idp.serve({ callback: service.url + callbackPath, signedOut: `${service.url}/app` })
    const elsewhere = await PageBrowser.open(service)
    try {
      const { page, picture } = await elsewhere.page('/app', { isSignedIn: false })
      await page.getByText(`The provider ${idp.issuer} cannot be reached: ECONNREFUSED`).waitFor()
      expect(await accessibilityFaults(page)).toEqual([])
      await picture('openid-down')
      await button(page).click()
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
      await idp.resume()
      await expect
        .poll(
          async () => {
            await page.goto(`${service.url}/session/openid`)
            return page.getByLabel('Who are you?').count()
          },
          { timeout: 10_000, interval: 500 },
        )
        .toBe(1)
    } finally {
      await elsewhere.close()
      await service.stop()
      await idp.stop()
    }
  })

  test('is refused where the clocks differ, with both times', async () => {
    provided.provide({ tokenSeconds: 300 })
    provided.idp.clockMs = -10 * 60_000
    const { page, picture } = await open('/app')
    await button(page).click()
    await atProvider(page, 'ada')
    await page
      .getByText(/is not valid now: it ended at .*, and it is .* by the clock of this service/)
      .waitFor()
    await page.getByText('they may be 60 s apart').waitFor()
    await picture('openid-clock')
  })

  test('is refused where the state is forged', async () => {
    const { page } = await open('/app')
    const state = 'x'.repeat(43)
    await page.goto(`${provided.service.url}/session/openid/callback?code=stolen&state=${state}`)
    await page.getByText('This browser has not begun this sign-in').waitFor()
  })

  test('ends at once for a member who is removed, who does not get in again', async () => {
    await provided.invite('ada@example.com')
    const { page, picture } = await open('/app')
    await button(page).click()
    await atProvider(page, 'ada')
    await page.getByRole('link', { name: /support/ }).waitFor()
    await provided.remove('ada@example.com')
    await page.getByRole('link', { name: /support/ }).click()
    await button(page).click()
    await page.getByText('ada@example.com is not a member of this service any more').waitFor()
    await picture('openid-removed')
    await provided.invite('ada@example.com')
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await button(page).click()
    await page
      .getByRole('heading', { name: 'Home' })
      .or(page.getByText('No logs yet'))
      .first()
      .waitFor()
  })

  test('offers nothing else where passwords are off, but the operator’s key gets in', async () => {
    const only = await ProvidedService.start({
      ASSAY_OIDC_LABEL: label,
      ASSAY_PASSWORD_SIGN_IN: 'off',
    })
    const elsewhere = await PageBrowser.open(only.service)
    try {
      for (const theme of ['light', 'dark'] as const) {
        const { page, picture } = await elsewhere.page('/app', { isSignedIn: false, theme })
        await button(page).waitFor()
        expect(await page.locator('input').count()).toBe(0)
        expect(await accessibilityFaults(page)).toEqual([])
        await picture('openid-only')
        const operator = await elsewhere.page('/app#key', { isSignedIn: false, theme })
        await operator.page.getByLabel('API key').fill(testKey)
        expect(await accessibilityFaults(operator.page)).toEqual([])
        await operator.picture('openid-operator')
        await operator.page.getByRole('button', { name: 'Sign in' }).click()
        await operator.page.getByRole('button', { name: 'Sign out' }).waitFor()
      }
    } finally {
      await elsewhere.close()
      await only.stop()
    }
  })
})
