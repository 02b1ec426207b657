/** Where an object store of the S3 kind is, and who asks it: set by whoever runs the service or the command, never by its users. */
import { AssayError } from '../error.ts'

export interface S3Settings {
  /** Undefined: AWS's own, in the region. */
  readonly endpoint: string | undefined
  readonly region: string
  /** Whether buckets are the first part of the path, as most other servers than AWS's have it, and not of the host's name. */
  readonly isPathStyle: boolean
  /** Undefined: as AWS's tools find them: variables, profiles, the role of the machine or of the container. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined
}

export interface S3Flags {
  readonly s3Endpoint?: string
  readonly s3Region?: string
  readonly s3PathStyle?: string
}

/** A setting with where it was found. */
interface Setting {
  readonly source: string
  readonly text: string | undefined
}

export interface S3Secrets {
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
}

/**
 * @param setting reads a flag, or else the environment variable of its name
 * @param secrets of `ASSAY_S3_ACCESS_KEY_ID` and `ASSAY_S3_SECRET_ACCESS_KEY`
 */
export function readS3Settings(
  setting: (flag: keyof S3Flags, name: string, variable: string) => Setting,
  { accessKeyId, secretAccessKey }: S3Secrets,
  environment: NodeJS.ProcessEnv,
): S3Settings {
  const endpoint = readEndpoint(setting('s3Endpoint', '--s3-endpoint', 'ASSAY_S3_ENDPOINT'))
  const region = setting('s3Region', '--s3-region', 'ASSAY_S3_REGION').text
  const style = setting('s3PathStyle', '--s3-path-style', 'ASSAY_S3_PATH_STYLE')
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new AssayError(
      'CONFIG_INVALID',
      'ASSAY_S3_ACCESS_KEY_ID and ASSAY_S3_SECRET_ACCESS_KEY go together',
      { hint: 'give both, or none of them for those that AWS’s tools would use' },
    )
  }
  return {
    endpoint,
    region: region ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? 'us-east-1',
    isPathStyle: isOn(style, endpoint !== undefined),
    credentials:
      accessKeyId !== undefined && secretAccessKey !== undefined
        ? { accessKeyId, secretAccessKey }
        : undefined,
  }
}

/** A bucket and what the names of all objects begin with: no slash at either end, possibly empty. */
export interface BucketPlace {
  readonly bucket: string
  readonly prefix: string
}

/** Undefined for what is no such address, or names something else than it says. */
export function parseS3Address(text: string): BucketPlace | undefined {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/s.exec(text) ?? []
  if (!isBucketName(bucket)) return undefined
  const prefix = rest.replace(/\/$/, '')
  const parts = prefix === '' ? [] : prefix.split('/')
  return parts.every(isPlainPart) && prefix.length <= longestPrefix ? { bucket, prefix } : undefined
}

const longestPrefix = 500

function isBucketName(text: string): boolean {
  return /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text) && !text.includes('..')
}

/** Servers differ in what they make of others. */
export function isPlainPart(part: string): boolean {
  return part !== '' && part !== '.' && part !== '..' && !/[\p{Cc}\\]/u.test(part)
}

function readEndpoint({ source, text }: Setting): string | undefined {
  if (text === undefined) return undefined
  if (/^https?:\/\/[^\s/?#@]+\/?$/.test(text) && URL.canParse(text)) return text.replace(/\/$/, '')
  throw new AssayError(
    'CONFIG_INVALID',
    `${source} must be a URL such as https://minio.example.com:9000, without a path or a user, not "${text.slice(0, 100)}"`,
  )
}

function isOn({ source, text }: Setting, fallback: boolean): boolean {
  if (text === undefined) return fallback
  if (text === 'on' || text === 'off') return text === 'on'
  throw new AssayError('CONFIG_INVALID', `${source} must be on or off, not "${text.slice(0, 100)}"`)
}
