import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { defaultQueryLimits } from '../src/scheduler/admission/query-limits.ts'

test('defaults', () => {
  const config = readConfig({}, {})
  expect(config).toEqual({
    trustedProxies: 0,
    host: '127.0.0.1',
    port: 8000,
    httpServer: 'auto',
    otlpGrpcPort: { number: 4317, isChosen: false },
    dataDirectory: resolve('data'),
    workers: availableParallelism(),
    logLevel: 'info',
    maxBodyBytes: 512 * 2 ** 20,
    asyncLimits: { lifetimeMs: 24 * 3_600_000, totalBytes: 10 * 2 ** 30 },
    limits: defaultQueryLimits,
    requestsPerMinute: { perKey: undefined, perOrganization: undefined },
    prices: undefined,
    bootstrapKey: undefined,
    signIn: { password: true, key: true },
    secretKey: undefined,
    isForgettingSecrets: false,
    warmUpSeconds: 4,
    scrubBytesPerSecond: 2 * 2 ** 20,
    exportPlaces: {
      folders: [],
      buckets: [],
      s3: {
        endpoint: undefined,
        region: 'us-east-1',
        isPathStyle: false,
        credentials: undefined,
      },
    },
  })
  expect(Object.isFrozen(config)).toBe(true)
})

test('the HTTP server is chosen by name, in any case of letters', () => {
  expect(readConfig({}, { ASSAY_HTTP_SERVER: 'Node' }).httpServer).toBe('node')
  expect(readConfig({ httpServer: 'uwebsockets' }, { ASSAY_HTTP_SERVER: 'node' }).httpServer).toBe(
    'uwebsockets',
  )
  expect(() => readConfig({ httpServer: 'uws' }, {})).toThrow(
    '--http-server must be one of auto, uwebsockets, node, not "uws"',
  )
})

test('what is left free of the disk is given in megabytes, and none is a number, too', () => {
  expect(readConfig({}, {}).leastFreeBytes).toBeUndefined()
  expect(readConfig({}, { ASSAY_MIN_FREE_MB: '100' }).leastFreeBytes).toBe(100 * 2 ** 20)
  expect(readConfig({ minFreeMb: '0' }, { ASSAY_MIN_FREE_MB: '100' }).leastFreeBytes).toBe(0)
  expect(() => readConfig({ minFreeMb: 'much' }, {})).toThrow(
    /--min-free-mb must be a whole number/,
  )
})

test('flags win over the environment', () => {
  const environment = {
    ASSAY_HOST: '::1',
    ASSAY_PORT: '9',
    ASSAY_DATA_DIR: '/x',
    ASSAY_WORKERS: '0',
    ASSAY_LOG_LEVEL: 'WARN',
    ASSAY_MAX_BODY_BYTES: '2048',
    ASSAY_BOOTSTRAP_KEY: 'sk-12345678',
  }
  const config = readConfig({ port: '10', workers: '3' }, environment)
  expect(config).toMatchObject({
    host: '::1',
    port: 10,
    dataDirectory: '/x',
    workers: 3,
    logLevel: 'warn',
    maxBodyBytes: 2048,
    bootstrapKey: 'sk-12345678',
    secretKey: undefined,
    warmUpSeconds: 4,
    scrubBytesPerSecond: 2 * 2 ** 20,
  })
})

test('the port of OTLP over gRPC is chosen, or off', () => {
  const port = (text: string) => readConfig({ otlpGrpcPort: text }, {}).otlpGrpcPort
  expect(port('4318')).toEqual({ number: 4318, isChosen: true })
  expect([port('off'), port('0')]).toEqual([undefined, undefined])
  expect(() => port('none')).toThrow('--otlp-grpc-port must be a whole number from 1 to 65535')
})

test('limits of queries and requests', () => {
  const { limits, requestsPerMinute } = readConfig(
    { maxRunningQueries: '2', maxQueriesPerKey: '5', queryMemoryMb: '10', slowQueryMs: '0' },
    {
      ASSAY_MAX_QUEUED_QUERIES: '0',
      ASSAY_MAX_QUERY_SECONDS: '60',
      ASSAY_TOTAL_QUERY_MEMORY_MB: '20',
      ASSAY_KEPT_ANSWERS_MB: '0',
      ASSAY_ROW_CACHE_MB: '8',
      ASSAY_MAX_REQUESTS_PER_MINUTE_PER_ORGANIZATION: '600',
    },
  )
  expect(limits).toEqual({
    admission: { running: 2, queued: 0 },
    concurrent: { perKey: 5, perOrganization: undefined },
    memory: { perQuery: 10 * 2 ** 20, total: 20 * 2 ** 20 },
    maximumSeconds: 60,
    slowMs: undefined,
    keptAnswersBytes: 0,
    rowCacheBytes: 8 * 2 ** 20,
  })
  expect(requestsPerMinute).toEqual({ perKey: undefined, perOrganization: 600 })
})

test('places for exports are folders, and buckets with a folder or without', () => {
  const { exportPlaces } = readConfig(
    { exportFolders: '/mnt/a, b', s3Endpoint: 'http://minio:9000/' },
    { ASSAY_EXPORT_BUCKETS: 'one,s3://two/deep/er', AWS_REGION: 'eu-central-1' },
  )
  expect(exportPlaces).toMatchObject({
    folders: ['/mnt/a', resolve('b')],
    buckets: [
      { bucket: 'one', prefix: '' },
      { bucket: 'two', prefix: 'deep/er' },
    ],
    s3: { endpoint: 'http://minio:9000', region: 'eu-central-1', isPathStyle: true },
  })
})

test('an empty variable is as good as none', () => {
  expect(readConfig({}, { ASSAY_PORT: '', ASSAY_HOST: '' }).port).toBe(8000)
})

test.each([
  [{ port: 'x' }, {}, '--port must be a whole number from 0 to 65535, not "x"'],
  [{}, { ASSAY_PORT: '65536' }, 'ASSAY_PORT'],
  [{ workers: '-1' }, {}, '--workers'],
  [{ workers: '1.5' }, {}, '--workers'],
  [{}, { ASSAY_LOG_LEVEL: 'loud' }, 'ASSAY_LOG_LEVEL must be one of trace'],
  [{ maxBodyBytes: '1' }, {}, '--max-body-bytes'],
  [{ prices: '/no/such.json' }, {}, '--prices: cannot read /no/such.json: '],
  [{}, { ASSAY_PRICES: '/dev/null' }, '/dev/null is not JSON'],
  [{ exportBuckets: 'a/../b' }, {}, '--export-buckets'],
  [{ s3Endpoint: 'http://user@minio' }, {}, '--s3-endpoint'],
  [{ s3PathStyle: 'yes' }, {}, '--s3-path-style must be on or off'],
  [{}, { ASSAY_S3_ACCESS_KEY_ID: 'k' }, 'ASSAY_S3_SECRET_ACCESS_KEY go together'],
  [{}, { ASSAY_BOOTSTRAP_KEY: 'short' }, 'ASSAY_BOOTSTRAP_KEY'],
  [{}, { ASSAY_BOOTSTRAP_KEY: 'with a space' }, 'ASSAY_BOOTSTRAP_KEY'],
])('%j with %j is refused by name', (flags, environment, message) => {
  expect(() => readConfig(flags, environment)).toThrow(message)
})

test('a secret may come in a file, as containers and systemd hand it over', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const config = readConfig(
    {},
    {
      ASSAY_BOOTSTRAP_KEY_FILE: file('key', 'sk-of-a-file\n'),
      ASSAY_SECRET_KEY_FILE: file('secret', '0'.repeat(64)),
      ASSAY_LLM_URL: 'https://models.example.com',
      ASSAY_LLM_MODEL: 'm',
      ASSAY_LLM_KEY_FILE: file('model', 'sk-model\r\n'),
    },
  )
  expect(config).toMatchObject({
    bootstrapKey: 'sk-of-a-file',
    secretKey: '0'.repeat(64),
    languageModel: { key: 'sk-model' },
  })
  const fault = (environment: Record<string, string>) => () => readConfig({}, environment)
  expect(fault({ ASSAY_SECRET_KEY_FILE: file('empty', '\n') })).toThrow(/SECRET_KEY_FILE: .*empty/)
  expect(fault({ ASSAY_SECRET_KEY_FILE: join(folder, 'none') })).toThrow(/cannot read .*not there/)
  expect(
    fault({
      ASSAY_BOOTSTRAP_KEY: 'sk-12345678',
      ASSAY_BOOTSTRAP_KEY_FILE: file('key', 'sk-other'),
    }),
  ).toThrow(/both given/)
})

test('a query node needs the address of its home and a key, and does not say what is hot', () => {
  const ASSAY_HOME = 'https://home.example.com/'
  const given = { ASSAY_HOME, ASSAY_HOME_KEY: 'sk-home' }
  expect(readConfig({}, given).home).toEqual({ url: 'https://home.example.com', key: 'sk-home' })
  expect(() => readConfig({}, { ASSAY_HOME })).toThrow(/ASSAY_HOME needs a key of the home node/)
  expect(() => readConfig({}, { ASSAY_HOME_KEY: 'sk-home' })).toThrow(/without --home/)
  expect(() => readConfig({ home: 'home:8000' }, given)).toThrow(/--home must be a URL/)
  const clickhouse = 'http://a:8123'
  expect(readConfig({ clickhouse }, given).clickhouse?.urls).toEqual([clickhouse])
  expect(() => readConfig({ clickhouse, hotDays: '1' }, given)).toThrow(
    /--hot-days and --home are both given/,
  )
})
