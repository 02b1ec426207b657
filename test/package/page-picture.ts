/**
 * Makes the picture of the web page that the documentation shows, over the data of `assay demo`:
 *
 *     npm run build && node --import ./test/support/typescript-loader.js test/package/page-picture.ts
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PageBrowser } from '../support/browser.ts'
import { Started } from './command.ts'

const picture = fileURLToPath(new URL('../../src/docs/page.webp', import.meta.url))
const repository = fileURLToPath(new URL('../..', import.meta.url))

const folder = await mkdtemp(join(tmpdir(), 'assay-picture-'))
const environment = { ...process.env, ASSAY_OTLP_GRPC_PORT: 'off' }
const demo = new Started(
  `node ${join(repository, 'dist/src/main.js')} demo --port ${process.env.ASSAY_PORT ?? 0} --data-dir ${folder}/data`,
  { folder, environment },
)
try {
  const link = new URL(await demo.find(/^Open (http\S+)$/m))
  const key = new URLSearchParams(link.hash.slice(1)).get('key')!
  const browser = await PageBrowser.open({ url: link.origin })
  try {
    const { page } = await browser.page('/app/default/p/Demo/logs', {
      key,
      width: 1280,
      isKept: true,
    })
    await page.setViewportSize({ width: 1280, height: 760 })
    await page.getByLabel('Search', { exact: true }).fill('refund from gpt-4o slower than 3 s')
    await page.keyboard.press('Enter')
    await page.locator('tr[data-index="1"]').click()
    await page.getByRole('treeitem').first().waitFor()
    await page.getByRole('treeitem').nth(1).click()
    await page.waitForLoadState('networkidle')
    const png = (await page.screenshot()).toString('base64')
    // A third of the bytes, by the encoder of the browser. The page's own policy lets no script in.
    await page.goto('about:blank')
    const webp = await page.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob('${png}'), (sign) => sign.charCodeAt(0))
      const image = await createImageBitmap(new Blob([bytes]))
      const canvas = new OffscreenCanvas(image.width, image.height)
      canvas.getContext('2d').drawImage(image, 0, 0)
      const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.8 })
      const smaller = new Uint8Array(await blob.arrayBuffer())
      return btoa(Array.from(smaller, (byte) => String.fromCharCode(byte)).join(''))
    })()`)
    await writeFile(picture, Buffer.from(webp as string, 'base64'))
  } finally {
    await browser.close()
  }
} finally {
  await demo.stop()
  await rm(folder, { recursive: true, force: true })
}
