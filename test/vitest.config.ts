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

/** Those that look at the memory of their process, or at what each process has once: each has one of its own. */
const ofProcess = [
  'test/executor/idle-memory.test.ts',
  'test/fuzz/*.test.ts',
  'test/scheduler/threads.test.ts',
  'test/storage/row-block.test.ts',
]

/**
 * Modules take seconds to load, so the files that run in one process share them: of 48 small files, loading took most of the
 * time. What a file changes for others, it has to put back.
 */
const isolate = false

const ofService = ['test/server/**/*.test.ts']
const ofPage = ['test/ui/**/*.test.ts']
/** Most of them need a cluster that is asked for, and are passed over else, which their modules took six seconds each for. */
const ofCluster = ['test/clickhouse/**/*.test.ts']

/** Those of the whole system, which take longer: in a browser, by clients of others, with disks that fail, on real data. */
const ofSystem = ['clients', 'crash', 'deploy', 'formats', 'package', 'real-data', 'soak'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

/** Tests run the TypeScript sources; the threads they start load them through tsx as well. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/random-seed.ts'],
    pool: 'forks',
    // Most files wait for services, browsers and disks: a core that is kept free for them stands still.
    maxWorkers: availableParallelism(),
    execArgv: ['--import', new URL('support/test-loader.js', import.meta.url).href],
    // Only to end what hangs: a loaded machine may take its time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './test/support/plain-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'usual',
          include: ['test/**/*.test.ts'],
          exclude: [...ofProcess, ...ofService, ...ofPage, ...ofCluster, ...ofSystem],
          isolate,
        },
      },
      { extends: true, test: { name: 'process', include: ofProcess } },
      { extends: true, test: { name: 'service', include: ofService, isolate } },
      { extends: true, test: { name: 'page', include: ofPage, isolate } },
      { extends: true, test: { name: 'cluster', include: ofCluster, isolate } },
      { extends: true, test: { name: 'system', include: ofSystem } },
      {
        extends: true,
        test: {
          name: 'node:http',
          include: [...ofTransport, ...ofVersion],
          isolate,
          env: { ASSAY_HTTP_SERVER: 'node' },
        },
      },
    ],
  },
})
