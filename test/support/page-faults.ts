/** What automatic checks find wrong with the accessibility of a page. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe {
  run(options: RunOptions): Promise<AxeResults>
}

/** Serious and critical findings, each with the first place that it is at. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Evaluated rather than added as an element, which the page's policy would refuse.
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => {
    const { axe } = globalThis as unknown as { axe: Axe }
    // What passes is not told of in full, which takes a good part of the time.
    return axe.run({ resultTypes: ['violations'] })
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`)
}
