import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Those that hold how requests are read and answers sent, on sockets: they run over both HTTP servers. All others run
 * over the one that is usual here, and over Node's with `ASSAY_HTTP_SERVER=node`. CI runs the former with other versions
 * of Node, too, together with what else depends on the version.
 */
const ofTransport = [
  'attachment',
  'body',
  'cancel',
  'forwarded-headers',
  'hard-edges',
  'live',
  'process',
  'request-framing',
  'slow-readers',
  'status',
  'transport',
].map((name) => `test/server/${name}.test.ts`)
const ofVersion = ['test/storage/mapped-values.test.ts']

/** Those of the whole system, which take longer: in a browser, by clients of others, with disks that fail, on real data. */
const ofSystem = [
  'clickhouse',
  'clients',
  'crash',
  'deploy',
  'formats',
  'package',
  'real-data',
  'soak',
  'ui',
].map((folder) => `test/${folder}/**/*.test.ts`)

/** Tests run the TypeScript sources; the threads they start load them through tsx as well. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    setupFiles: ['test/support/random-seed.ts'],
    pool: 'forks',
    // Most files wait for services, browsers and disks: a core that is kept free for them stands still.
    maxWorkers: availableParallelism(),
    execArgv: ['--import', new URL('support/typescript-loader.js', import.meta.url).href],
    // Only to end what hangs: a loaded machine may take its time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './test/support/plain-reporter.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'usual', include: ['test/**/*.test.ts'], exclude: ofSystem },
      },
      { extends: true, test: { name: 'system', include: ofSystem } },
      {
        extends: true,
        test: {
          name: 'node:http',
          include: [...ofTransport, ...ofVersion],
          env: { ASSAY_HTTP_SERVER: 'node' },
        },
      },
    ],
  },
})
