/** What an object store, or the way to it, fails with, in words and with the way out. */
import { AssayError } from '../error.ts'

/** By the names that S3 gives them, and those of the system. */
const hints: Readonly<Record<string, string>> = {
  NoSuchBucket: 'make the bucket first, or name another one',
  AccessDenied:
    'give the key s3:PutObject, GetObject, DeleteObject and AbortMultipartUpload on the objects, and s3:ListBucket and ListBucketMultipartUploads on the bucket',
  InvalidAccessKeyId:
    'see ASSAY_S3_ACCESS_KEY_ID, or AWS_ACCESS_KEY_ID: the store does not know that key',
  SignatureDoesNotMatch:
    'see ASSAY_S3_SECRET_ACCESS_KEY, or AWS_SECRET_ACCESS_KEY, and --s3-region',
  CredentialsProviderError:
    'set ASSAY_S3_ACCESS_KEY_ID and ASSAY_S3_SECRET_ACCESS_KEY, or what AWS’s tools find',
  PermanentRedirect: 'set --s3-region to the region of the bucket',
  AuthorizationHeaderMalformed: 'set --s3-region to the region of the bucket',
  RequestTimeTooSkewed: 'set the clock of this machine',
  ECONNREFUSED: 'see whether the store runs, and --s3-endpoint',
  ENOTFOUND: 'see --s3-endpoint: there is no host of that name',
}

const usualHint = 'see what the store says, and --s3-endpoint; it is tried again'

/** @param what as a clause: `cannot write s3://bucket/file` */
export function s3Error(what: string, thrown: unknown): AssayError {
  if (thrown instanceof AssayError) return thrown
  const { name, message } = thrown instanceof Error ? thrown : new Error(String(thrown))
  const code = codeOf(thrown)
  const said = [code ?? name, message].filter((part) => part !== '' && part !== 'UnknownError')
  const text = [...new Set(said)].join(': ').slice(0, 300)
  return new AssayError('STORAGE_UNAVAILABLE', `${what}: ${text}`, {
    hint: hints[code ?? ''] ?? hints[name] ?? usualHint,
    cause: thrown,
  })
}

/** Of the answer; undefined where there was none. */
export function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('$metadata' in thrown)) return undefined
  const { $metadata: metadata } = thrown
  if (typeof metadata !== 'object' || metadata === null) return undefined
  const { httpStatusCode: status } = metadata as { readonly httpStatusCode?: unknown }
  return typeof status === 'number' ? status : undefined
}

/** Of the system. */
function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}
