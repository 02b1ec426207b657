/** Builds what has changed, before all tests: processes and threads that they start run what users do. */
import { execFileSync } from 'node:child_process'
import type { TestProject } from 'vitest/node'

export function setup(project: TestProject): void {
  build()
  project.onTestsRerun(async () => build())
}

function build(): void {
  execFileSync(process.execPath, ['src/build.mjs'], { stdio: 'inherit' })
}
