/** What automatic checks find wrong with the accessibility of a page. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Serious and critical findings, each with the first place that it is at. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Evaluated rather than added as an element, which the page's policy would refuse.
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => {
    return (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run()
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`)
}
