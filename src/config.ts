/** Settings of the service: flags win over environment variables, which win over defaults. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import {
  readSignInSettings,
  type SignInFlags,
  type SignInSettings,
} from './access/sign-in-settings.ts'
import {
  type ClickHouseFlags,
  type ClickHouseSettings,
  readClickHouseSettings,
} from './clickhouse/settings.ts'
import { AssayError } from './error.ts'
import { type PriceTable, readPriceTable } from './function/prices.ts'
import {
  type ExportPlaceFlags,
  type ExportPlaces,
  readExportPlaces,
} from './object-store/export-places.ts'
import type { S3Secrets } from './object-store/s3-settings.ts'
import {
  type AsyncLimits,
  defaultQueryLimits,
  type QueryLimits,
} from './scheduler/admission/query-limits.ts'
import type { HotLimits } from './scheduler/cold/hot-limits.ts'
import { type MaskerSettings, readMaskerSettings } from './scheduler/insert/masker-settings.ts'
import type { LanguageModel } from './search/ask-model.ts'
import { fileFault } from './storage/directory/file-fault.ts'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** `auto` takes uWebSockets.js wherever it loads, and otherwise Node's own server. */
const httpServers = ['auto', 'uwebsockets', 'node'] as const
export type HttpServerChoice = (typeof httpServers)[number]

export interface Config {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  readonly httpServer: HttpServerChoice
  /** Of OTLP over gRPC; undefined for none. */
  readonly otlpGrpcPort: GrpcPort | undefined
  readonly dataDirectory: string
  /** Threads that run queries; 0 runs them in the main thread. */
  readonly workers: number
  readonly logLevel: LogLevel
  readonly maxBodyBytes: number
  /** Of queries that run beside each other. */
  readonly limits: QueryLimits
  /** Of results of queries that nobody waits for. */
  readonly asyncLimits: AsyncLimits
  /** Of the disk, which nothing grows into; undefined for what is usual, 0 for none. */
  readonly leastFreeBytes: number | undefined
  /** Of requests, in a minute. */
  readonly requestsPerMinute: RequestRates
  /** Base of the URLs in answers, without a slash at the end; undefined for that of each request. */
  readonly publicUrl: string | undefined
  /** How many proxies stand before the service, whose headers are believed. */
  readonly trustedProxies: number
  /** Translates searches; undefined leaves that to the built-in translator. */
  readonly languageModel: LanguageModel | undefined
  /** What models cost; undefined for the built-in table. */
  readonly prices: PriceTable | undefined
  /** Text of the first owner's key. */
  readonly bootstrapKey: string | undefined
  readonly signIn: SignInSettings
  /** What secrets are encrypted with, 64 hexadecimal digits; undefined for a file of the data directory. */
  readonly secretKey: string | undefined
  /** Whether to start with a key that opens no stored secret. */
  readonly isForgettingSecrets: boolean
  /** For typical queries after a start; 0: none are run. */
  readonly warmUpSeconds: number
  /** See `MaintenanceOptions`. */
  readonly scrubBytesPerSecond: number
  /** Where transactions are exported to; undefined: nowhere. */
  readonly clickhouse: ClickHouseSettings | undefined
  /** What is not read of ClickHouse; undefined: nothing is read there. */
  readonly hot: HotLimits | undefined
  /** Where users' exports may go. */
  readonly exportPlaces: ExportPlaces
  /** Masks what is inserted; undefined: only rules do. */
  readonly masker: MaskerSettings | undefined
  /** The node that a query node follows; undefined: the service has its own data. */
  readonly home: HomeSettings | undefined
}

export interface HomeSettings {
  /** Without a slash at the end. */
  readonly url: string
  /** Of an owner of every organization. */
  readonly key: string
}

export interface GrpcPort {
  readonly number: number
  /** Chosen by the user, who is told when it cannot be had; the default may be that of another service. */
  readonly isChosen: boolean
}

/** How many requests a minute; undefined: any number. */
export interface RequestRates {
  readonly perKey: number | undefined
  readonly perOrganization: number | undefined
}

/** Flags as the command line has them: texts, absent when not given. */
export interface ConfigFlags extends SignInFlags, ClickHouseFlags, ExportPlaceFlags {
  readonly host?: string
  readonly port?: string
  readonly httpServer?: string
  readonly otlpGrpcPort?: string
  readonly dataDir?: string
  readonly workers?: string
  readonly logLevel?: string
  readonly maxBodyBytes?: string
  readonly maxRunningQueries?: string
  readonly maxQueuedQueries?: string
  readonly maxQueriesPerKey?: string
  readonly maxQueriesPerOrganization?: string
  readonly maxRequestsPerMinutePerKey?: string
  readonly maxRequestsPerMinutePerOrganization?: string
  readonly maxQuerySeconds?: string
  readonly queryMemoryMb?: string
  readonly totalQueryMemoryMb?: string
  readonly slowQueryMs?: string
  readonly keptAnswersMb?: string
  readonly rowCacheMb?: string
  readonly asyncResultHours?: string
  readonly asyncResultsMb?: string
  readonly minFreeMb?: string
  readonly publicUrl?: string
  /** True where it is given without a number. */
  readonly trustProxy?: string | true
  readonly prices?: string
  readonly warmUp?: string
  readonly forgetSecrets?: boolean
  readonly scrubMbPerSecond?: string
  readonly hotDays?: string
  readonly hotBytes?: string
  readonly home?: string
}

const largestNumber = 1_000_000_000

/** A request body has to fit into one buffer, and a text of it into one string. */
const largestBodyBytes = 2 ** 31

export function readConfig(flags: ConfigFlags, environment: NodeJS.ProcessEnv): Config {
  const setting: SettingReader = (flag, name, variable) => {
    const given = flags[flag]
    if (typeof given === 'string') return { source: name, text: given }
    return { source: variable, text: environment[variable] || undefined }
  }
  const key = readSecret(environment, 'ASSAY_BOOTSTRAP_KEY')
  if (key !== undefined && (/[^\x21-\x7e]/.test(key) || key.length < 8 || key.length > 1024)) {
    throw new AssayError(
      'CONFIG_INVALID',
      'ASSAY_BOOTSTRAP_KEY must be 8 to 1024 visible ASCII characters without spaces',
    )
  }
  const home = homeSettings(
    setting('home', '--home', 'ASSAY_HOME'),
    readSecret(environment, 'ASSAY_HOME_KEY'),
  )
  const clickhouse = readClickHouseSettings(
    setting,
    readSecret(environment, 'ASSAY_CLICKHOUSE_PASSWORD'),
  )
  return Object.freeze({
    host: setting('host', '--host', 'ASSAY_HOST').text ?? '127.0.0.1',
    port: integer(setting('port', '--port', 'ASSAY_PORT'), 8000, 0, 65_535),
    httpServer: oneOf(
      setting('httpServer', '--http-server', 'ASSAY_HTTP_SERVER'),
      httpServers,
      'auto',
    ),
    otlpGrpcPort: grpcPort(setting('otlpGrpcPort', '--otlp-grpc-port', 'ASSAY_OTLP_GRPC_PORT')),
    dataDirectory: resolve(setting('dataDir', '--data-dir', 'ASSAY_DATA_DIR').text ?? 'data'),
    workers: integer(
      setting('workers', '--workers', 'ASSAY_WORKERS'),
      availableParallelism(),
      0,
      1024,
    ),
    logLevel: oneOf(setting('logLevel', '--log-level', 'ASSAY_LOG_LEVEL'), logLevels, 'info'),
    maxBodyBytes: integer(
      setting('maxBodyBytes', '--max-body-bytes', 'ASSAY_MAX_BODY_BYTES'),
      512 * 2 ** 20,
      1024,
      largestBodyBytes,
    ),
    limits: queryLimits(setting),
    asyncLimits: asyncLimits(setting),
    leastFreeBytes: leastFreeBytes(setting('minFreeMb', '--min-free-mb', 'ASSAY_MIN_FREE_MB')),
    requestsPerMinute: {
      perKey: optional(
        setting(
          'maxRequestsPerMinutePerKey',
          '--max-requests-per-minute-per-key',
          'ASSAY_MAX_REQUESTS_PER_MINUTE_PER_KEY',
        ),
      ),
      perOrganization: optional(
        setting(
          'maxRequestsPerMinutePerOrganization',
          '--max-requests-per-minute-per-organization',
          'ASSAY_MAX_REQUESTS_PER_MINUTE_PER_ORGANIZATION',
        ),
      ),
    },
    publicUrl: url(setting('publicUrl', '--public-url', 'ASSAY_PUBLIC_URL')),
    trustedProxies: trustedProxies(flags.trustProxy, environment.ASSAY_TRUST_PROXY),
    languageModel: languageModel(environment),
    prices: prices(setting('prices', '--prices', 'ASSAY_PRICES')),
    bootstrapKey: key,
    signIn: readSignInSettings(setting, environment),
    secretKey: readSecret(environment, 'ASSAY_SECRET_KEY'),
    isForgettingSecrets: flags.forgetSecrets === true,
    warmUpSeconds: integer(setting('warmUp', '--warm-up', 'ASSAY_WARM_UP'), 4, 0, 60),
    scrubBytesPerSecond:
      integer(
        setting('scrubMbPerSecond', '--scrub-mb-per-second', 'ASSAY_SCRUB_MB_PER_SECOND'),
        2,
        0,
        1000,
      ) *
      2 ** 20,
    clickhouse,
    hot: hotLimits(setting, clickhouse !== undefined, home !== undefined),
    exportPlaces: readExportPlaces(setting, readS3Secrets(environment), environment),
    masker: readMaskerSettings(environment, readSecret(environment, 'ASSAY_MASKING_TOKEN')),
    home,
  })
}

/** What opens an object store; nothing where AWS's own variables and files are to tell. */
export function readS3Secrets(environment: NodeJS.ProcessEnv): S3Secrets {
  return {
    accessKeyId: readSecret(environment, 'ASSAY_S3_ACCESS_KEY_ID'),
    secretAccessKey: readSecret(environment, 'ASSAY_S3_SECRET_ACCESS_KEY'),
  }
}

interface Setting {
  readonly source: string
  readonly text: string | undefined
}

type SettingReader = (
  flag: Exclude<keyof ConfigFlags, 'forgetSecrets'>,
  name: string,
  variable: string,
) => Setting

function hotLimits(
  setting: SettingReader,
  isExporting: boolean,
  isNode: boolean,
): HotLimits | undefined {
  const days = setting('hotDays', '--hot-days', 'ASSAY_HOT_DAYS')
  const bytes = setting('hotBytes', '--hot-bytes', 'ASSAY_HOT_BYTES')
  const given = [days, bytes].find(({ text }) => text !== undefined)
  if (!given) return undefined
  if (isNode) {
    throw new AssayError('CONFIG_INVALID', `${given.source} and --home are both given`, {
      hint: 'what is hot is hot on all nodes: the home node decides, so give it there',
    })
  }
  if (!isExporting) {
    throw new AssayError(
      'CONFIG_INVALID',
      `${given.source} says what is not read of ClickHouse, and there is none: give one with --clickhouse`,
    )
  }
  const limit = (of: Setting) => {
    return of.text === undefined ? undefined : integer(of, 0, 0, Number.MAX_SAFE_INTEGER)
  }
  return { days: limit(days), bytes: limit(bytes) }
}

function queryLimits(setting: SettingReader): QueryLimits {
  const { admission, memory, slowMs, keptAnswersBytes, rowCacheBytes } = defaultQueryLimits
  const megabytes = (given: Setting, fallback: number, least = 1) => {
    return integer(given, Math.round(fallback / 2 ** 20), least, largestNumber) * 2 ** 20
  }
  return {
    admission: {
      running: integer(
        setting('maxRunningQueries', '--max-running-queries', 'ASSAY_MAX_RUNNING_QUERIES'),
        admission.running,
        1,
        largestNumber,
      ),
      queued: integer(
        setting('maxQueuedQueries', '--max-queued-queries', 'ASSAY_MAX_QUEUED_QUERIES'),
        admission.queued,
        0,
        largestNumber,
      ),
    },
    concurrent: {
      perKey: optional(
        setting('maxQueriesPerKey', '--max-queries-per-key', 'ASSAY_MAX_QUERIES_PER_KEY'),
      ),
      perOrganization: optional(
        setting(
          'maxQueriesPerOrganization',
          '--max-queries-per-organization',
          'ASSAY_MAX_QUERIES_PER_ORGANIZATION',
        ),
      ),
    },
    maximumSeconds: optional(
      setting('maxQuerySeconds', '--max-query-seconds', 'ASSAY_MAX_QUERY_SECONDS'),
    ),
    memory: {
      perQuery: megabytes(
        setting('queryMemoryMb', '--query-memory-mb', 'ASSAY_QUERY_MEMORY_MB'),
        memory.perQuery,
      ),
      total: megabytes(
        setting('totalQueryMemoryMb', '--total-query-memory-mb', 'ASSAY_TOTAL_QUERY_MEMORY_MB'),
        memory.total,
      ),
    },
    slowMs: optional(setting('slowQueryMs', '--slow-query-ms', 'ASSAY_SLOW_QUERY_MS'), slowMs),
    keptAnswersBytes: megabytes(
      setting('keptAnswersMb', '--kept-answers-mb', 'ASSAY_KEPT_ANSWERS_MB'),
      keptAnswersBytes,
      0,
    ),
    rowCacheBytes: megabytes(
      setting('rowCacheMb', '--row-cache-mb', 'ASSAY_ROW_CACHE_MB'),
      rowCacheBytes,
    ),
  }
}

function asyncLimits(setting: SettingReader): AsyncLimits {
  return {
    lifetimeMs:
      integer(
        setting('asyncResultHours', '--async-result-hours', 'ASSAY_ASYNC_RESULT_HOURS'),
        24,
        1,
        100_000,
      ) * hourMs,
    totalBytes:
      integer(
        setting('asyncResultsMb', '--async-results-mb', 'ASSAY_ASYNC_RESULTS_MB'),
        10_240,
        1,
        largestNumber,
      ) *
      2 ** 20,
  }
}

function leastFreeBytes(given: Setting): number | undefined {
  if (given.text === undefined) return undefined
  return integer(given, 0, 0, largestNumber) * 2 ** 20
}

const hourMs = 3_600_000

/** A number that may be 0 for none. */
function optional(given: Setting, fallback = 0): number | undefined {
  return integer(given, fallback, 0, largestNumber) || undefined
}

function integer({ source, text }: Setting, fallback: number, least: number, most: number): number {
  if (text === undefined) return fallback
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new AssayError(
    'CONFIG_INVALID',
    `${source} must be a whole number from ${least} to ${most}, not "${text.slice(0, 100)}"`,
  )
}

function grpcPort(given: Setting): GrpcPort | undefined {
  const { source, text } = given
  if (text === undefined) return { number: 4317, isChosen: false }
  if (text.toLowerCase() === 'off' || text === '0') return undefined
  return { number: integer({ source, text }, 0, 1, 65_535), isChosen: true }
}

function url({ source, text }: Setting): string | undefined {
  if (text === undefined) return undefined
  if (/^https?:\/\/[^\s?#]+$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new AssayError(
    'CONFIG_INVALID',
    `${source} must be a URL such as https://assay.example.com, not "${text.slice(0, 100)}"`,
  )
}

function homeSettings(given: Setting, key: string | undefined): HomeSettings | undefined {
  const address = url(given)
  if (address === undefined && key === undefined) return undefined
  if (address === undefined) {
    throw new AssayError('CONFIG_INVALID', 'ASSAY_HOME_KEY is given without --home', {
      hint: 'say where the home node is with --home or ASSAY_HOME',
    })
  }
  if (key === undefined || !/^[\x21-\x7e]+$/.test(key)) {
    throw new AssayError('CONFIG_INVALID', `${given.source} needs a key of the home node`, {
      hint: 'set ASSAY_HOME_KEY, or ASSAY_HOME_KEY_FILE, to a key of an owner of every organization',
    })
  }
  return { url: address, key }
}

function trustedProxies(flag: string | true | undefined, variable: string | undefined): number {
  if (flag === true) return 1
  const source = flag === undefined ? 'ASSAY_TRUST_PROXY' : '--trust-proxy'
  return integer({ source, text: flag ?? (variable || undefined) }, 0, 0, 100)
}

function languageModel(environment: NodeJS.ProcessEnv): LanguageModel | undefined {
  const { ASSAY_LLM_URL, ASSAY_LLM_MODEL } = environment
  const key = readSecret(environment, 'ASSAY_LLM_KEY')
  const address = url({ source: 'ASSAY_LLM_URL', text: ASSAY_LLM_URL || undefined })
  if (address === undefined && key === undefined && !ASSAY_LLM_MODEL) return undefined
  if (address === undefined || !ASSAY_LLM_MODEL) {
    throw new AssayError(
      'CONFIG_INVALID',
      'ASSAY_LLM_URL and ASSAY_LLM_MODEL go together: where the language model is, and its name',
    )
  }
  return { url: address, key, model: ASSAY_LLM_MODEL }
}

function prices({ source, text: path }: Setting): PriceTable | undefined {
  return path === undefined ? undefined : readPriceTable(readText(source, path), path)
}

/**
 * A secret, which is never a flag: other users of a machine can read those. It is the text of a variable, or of the
 * file that the variable with `_FILE` behind its name says, as containers and systemd hand secrets over.
 */
export function readSecret(environment: NodeJS.ProcessEnv, variable: string): string | undefined {
  const source = `${variable}_FILE`
  const [given, path] = [environment[variable] || undefined, environment[source] || undefined]
  if (path === undefined) return given
  if (given !== undefined) {
    throw new AssayError('CONFIG_INVALID', `${variable} and ${source} are both given`, {
      hint: 'leave one of them out',
    })
  }
  // Editors and `echo` end a file with a line end.
  const text = readText(source, path).replace(/\r?\n$/, '')
  if (text === '') throw new AssayError('CONFIG_INVALID', `${source}: ${path} is empty`)
  return text
}

function readText(source: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw fileFault(cause, `${source}: cannot read ${path}`, 'CONFIG_INVALID') ?? cause
  }
}

/** In any case of letters. */
function oneOf<T extends string>({ source, text }: Setting, words: readonly T[], fallback: T): T {
  if (text === undefined) return fallback
  const word = words.find((word) => word === text.toLowerCase())
  if (word !== undefined) return word
  throw new AssayError(
    'CONFIG_INVALID',
    `${source} must be one of ${words.join(', ')}, not "${text.slice(0, 100)}"`,
  )
}
