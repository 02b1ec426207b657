import type { Reporter, TestModule } from 'vitest/node'

/** Ends the output with `N passed, N failed`, counting tests one by one. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0
    let failed = unhandledErrors.length
    for (const module of modules) {
      let ran = 0
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        ran++
        if (state === 'passed') passed++
        if (state === 'failed') failed++
      }
      // What fails before the tests of a block leaves them out, and none of them has failed.
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) failed++
      if (ran === 0 || (module.state() === 'failed' && module.errors().length > 0)) failed++
    }
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  }
}
