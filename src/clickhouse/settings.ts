/** Where the ClickHouse cluster is that transactions are exported to: read from flags and the environment. */
import { readFileSync } from 'node:fs'
import { AssayError } from '../error.ts'
import { fileFault } from '../storage/directory/file-fault.ts'

export interface ClickHouseSettings {
  /** Of the HTTP interfaces of some nodes, without a slash at the end: the first that answers tells of all. */
  readonly urls: readonly string[]
  readonly user: string
  readonly password: string
  readonly database: string
  /** As `remote_servers` of the nodes has it; undefined for one server alone. */
  readonly cluster: string | undefined
  /** PEM of the authority that signed the nodes' certificates; undefined for those that the system trusts. */
  readonly authority: string | undefined
}

/** A setting with where it was found. */
interface Setting {
  readonly source: string
  readonly text: string | undefined
}

export interface ClickHouseFlags {
  readonly clickhouse?: string
  readonly clickhouseUser?: string
  readonly clickhouseDatabase?: string
  readonly clickhouseCluster?: string
  readonly clickhouseCaFile?: string
}

/**
 * Undefined when no URL is given.
 *
 * @param setting reads a flag, or else the environment variable of its name
 * @param password of `ASSAY_CLICKHOUSE_PASSWORD`
 */
export function readClickHouseSettings(
  setting: (flag: keyof ClickHouseFlags, name: string, variable: string) => Setting,
  password: string | undefined,
): ClickHouseSettings | undefined {
  const urls = readUrls(setting('clickhouse', '--clickhouse', 'ASSAY_CLICKHOUSE'))
  if (urls === undefined) return undefined
  const database = setting(
    'clickhouseDatabase',
    '--clickhouse-database',
    'ASSAY_CLICKHOUSE_DATABASE',
  )
  const cluster = setting('clickhouseCluster', '--clickhouse-cluster', 'ASSAY_CLICKHOUSE_CLUSTER')
  const authority = setting('clickhouseCaFile', '--clickhouse-ca-file', 'ASSAY_CLICKHOUSE_CA_FILE')
  const user = setting('clickhouseUser', '--clickhouse-user', 'ASSAY_CLICKHOUSE_USER')
  return {
    urls,
    user: user.text ?? 'default',
    password: password ?? '',
    database: readName(database) ?? 'assay',
    cluster: readName(cluster),
    authority: readAuthority(authority),
  }
}

/** One or several, with commas between them. */
function readUrls({ source, text }: Setting): string[] | undefined {
  if (text === undefined) return undefined
  return text.split(',').map((part) => {
    const url = part.trim()
    if (/^https?:\/\/[^\s?#@]+$/.test(url) && URL.canParse(url)) return url.replace(/\/+$/, '')
    throw new AssayError(
      'CONFIG_INVALID',
      `${source} must be the URL of ClickHouse's HTTP interface such as http://clickhouse:8123, without a user, not "${url.slice(0, 100)}"`,
    )
  })
}

/** Names are part of statements, so that not all that ClickHouse takes is taken. */
function readName({ source, text }: Setting): string | undefined {
  if (text === undefined || /^[A-Za-z_]\w{0,63}$/.test(text)) return text
  throw new AssayError(
    'CONFIG_INVALID',
    `${source} must be up to 64 letters, digits and underscores, not "${text.slice(0, 100)}"`,
  )
}

function readAuthority({ source, text: path }: Setting): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw fileFault(cause, `${source}: cannot read ${path}`, 'CONFIG_INVALID') ?? cause
  }
}
