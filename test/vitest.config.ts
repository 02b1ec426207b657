import { defineConfig } from 'vitest/config'

/** Tests run the TypeScript sources; the threads they start load them through tsx as well. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/random-seed.ts'],
    pool: 'forks',
    execArgv: ['--import', new URL('support/typescript-loader.js', import.meta.url).href],
    // Only to end what hangs: a loaded machine may take its time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './test/support/plain-reporter.ts'],
  },
})
