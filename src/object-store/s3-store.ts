/** Files in a bucket of an object store of the S3 kind. */
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { s3Error, statusOf } from './s3-error.ts'
import { type Lease, takeLease } from './s3-lease.ts'
import type { BucketPlace, S3Settings } from './s3-settings.ts'
import { S3Writer } from './s3-writer.ts'

const connectionTimeoutMs = 10_000
/** Of one request: a part of an upload at most. */
const requestTimeoutMs = 120_000
const attempts = 4

/** Paths of files have `/` between their parts. Throws STORAGE_UNAVAILABLE for what the store does not do. */
export class S3Store {
  readonly name: string
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string
  #lease: Lease | undefined

  constructor(settings: S3Settings, { bucket, prefix }: BucketPlace) {
    this.name = `s3://${bucket}${prefix && `/${prefix}`}`
    this.#bucket = bucket
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.#client = clientOf(settings)
  }

  async has(path: string): Promise<boolean> {
    try {
      await this.#client.send(new HeadObjectCommand(this.#object(path)))
      return true
    } catch (thrown) {
      if (statusOf(thrown) === 404) return false
      throw this.#error('cannot look for', path, thrown)
    }
  }

  /** Undefined when there is no such file. */
  async read(path: string): Promise<Buffer | undefined> {
    try {
      const { Body } = await this.#client.send(new GetObjectCommand(this.#object(path)))
      return Buffer.from(await Body!.transformToByteArray())
    } catch (thrown) {
      if (statusOf(thrown) === 404 && !isNoBucket(thrown)) return undefined
      throw this.#error('cannot read', path, thrown)
    }
  }

  /** The whole file is there for good when this resolves. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#while('cannot write', path, async () => {
      await this.#client.send(new PutObjectCommand({ ...this.#object(path), Body: bytes }))
    })
  }

  /** A file that is written bit by bit, and is there once it is kept. */
  async create(path: string): Promise<S3Writer> {
    return new S3Writer(this.#client, this.#object(path), (thrown) =>
      this.#error('cannot write', path, thrown),
    )
  }

  /** Paths that begin with `prefix`, ascending. */
  async list(prefix: string): Promise<string[]> {
    const paths: string[] = []
    await this.#while('cannot list', prefix, async () => {
      for (let token: string | undefined; ; ) {
        const { Contents = [], NextContinuationToken } = await this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix + prefix,
            ...(token !== undefined && { ContinuationToken: token }),
          }),
        )
        for (const { Key } of Contents) {
          if (Key !== undefined && Key !== this.#prefix + leaseFile) {
            paths.push(Key.slice(this.#prefix.length))
          }
        }
        token = NextContinuationToken
        if (token === undefined) return
      }
    })
    return paths.sort()
  }

  async remove(path: string): Promise<void> {
    await this.#while('cannot remove', path, async () => {
      await this.#client.send(new DeleteObjectCommand(this.#object(path)))
    })
  }

  /** Removes the parts of uploads that a kill has ended. */
  async removeUnfinished(path: string): Promise<void> {
    await this.#while('cannot end uploads of', path, async () => {
      const { Bucket, Key } = this.#object(path)
      const { Uploads = [] } = await this.#client.send(
        new ListMultipartUploadsCommand({ Bucket, Prefix: Key }),
      )
      for (const upload of Uploads) {
        if (upload.Key !== Key) continue
        const { UploadId } = upload
        await this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
      }
    })
  }

  /** Keeps others that ask from writing below the prefix, until what is returned is called, or for a minute after the process has ended. */
  async lock(): Promise<() => Promise<void>> {
    const lease = await this.#while('cannot lock', leaseFile, () =>
      takeLease(this.#client, this.#object(leaseFile), this.name),
    )
    this.#lease = lease
    return () => this.#while('cannot unlock', leaseFile, () => lease.end())
  }

  /** Throws when the lock was lost. */
  async close(): Promise<void> {
    this.#lease?.requireHeld()
  }

  #object(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + path }
  }

  async #while<Result>(what: string, path: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (thrown) {
      throw this.#error(what, path, thrown)
    }
  }

  #error(what: string, path: string, thrown: unknown) {
    return s3Error(`${what} ${this.name}/${path}`, thrown)
  }
}

const leaseFile = 'in-use.json'

/** Each has connections of its own. */
const clients = new WeakMap<S3Settings, S3Client>()

function clientOf(settings: S3Settings): S3Client {
  const known = clients.get(settings)
  if (known) return known
  const { endpoint, region, isPathStyle, credentials } = settings
  // The version of the client is that of the package, which comes with all of it.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle: isPathStyle,
    ...(credentials && { credentials: { ...credentials } }),
    maxAttempts: attempts,
    // Not all servers take the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: requestTimeoutMs,
    },
  })
  clients.set(settings, client)
  return client
}

function isNoBucket(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'NoSuchBucket'
}
