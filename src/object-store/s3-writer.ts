/**
 * Uploads a file bit by bit, in parts: it is there as a whole once the last of them is, and never in part. Two parts are
 * held at most, one that fills and one that leaves.
 */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'

interface SentPart {
  readonly PartNumber: number
  readonly ETag: string | undefined
}

/** S3 takes no smaller ones but the last, and 10,000 of them. */
const smallestPart = 8 * 2 ** 20
/** So many parts, and then the next size: together 3 TiB. */
const partsOfSize = 1000
const largestPart = 512 * 2 ** 20

export class S3Writer {
  readonly #client: S3Client
  readonly #object: { readonly Bucket: string; readonly Key: string }
  readonly #errorOf: (thrown: unknown) => Error
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #uploadId: string | undefined
  #count = 0
  readonly #sent: SentPart[] = []
  #sending: Promise<void> = Promise.resolve()

  constructor(
    client: S3Client,
    object: { readonly Bucket: string; readonly Key: string },
    errorOf: (thrown: unknown) => Error,
  ) {
    this.#client = client
    this.#object = object
    this.#errorOf = errorOf
  }

  /** The bytes must not change afterwards. Resolves when more may come. */
  async append(parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) {
      this.#waiting.push(part)
      this.#waitingBytes += part.length
    }
    if (this.#waitingBytes >= this.#partBytes) await this.#sendPart()
  }

  async keep(): Promise<void> {
    try {
      if (this.#uploadId === undefined) {
        await this.#client.send(new PutObjectCommand({ ...this.#object, Body: this.#take() }))
        return
      }
      if (this.#waitingBytes > 0) await this.#sendPart()
      await this.#sending
      const Parts = [...this.#sent].sort((a, b) => a.PartNumber - b.PartNumber)
      await this.#client.send(
        new CompleteMultipartUploadCommand({
          ...this.#object,
          UploadId: this.#uploadId,
          MultipartUpload: { Parts },
        }),
      )
    } catch (thrown) {
      throw this.#errorOf(thrown)
    }
  }

  /** Removes what was sent, as far as that can be done; never throws. */
  async abandon(): Promise<void> {
    this.#waiting = []
    await this.#sending.catch(() => undefined)
    if (this.#uploadId === undefined) return
    const upload = { ...this.#object, UploadId: this.#uploadId }
    await this.#client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined)
  }

  get #partBytes(): number {
    return Math.min(largestPart, smallestPart * 4 ** Math.floor(this.#count / partsOfSize))
  }

  /** Sends what waits, once the part before has left. */
  async #sendPart(): Promise<void> {
    try {
      await this.#sending
      if (this.#uploadId === undefined) {
        const { UploadId } = await this.#client.send(new CreateMultipartUploadCommand(this.#object))
        this.#uploadId = UploadId
      }
    } catch (thrown) {
      throw this.#errorOf(thrown)
    }
    const part = { ...this.#object, UploadId: this.#uploadId, PartNumber: ++this.#count }
    const body = this.#take()
    const sending = this.#client
      .send(new UploadPartCommand({ ...part, Body: body }))
      .then(({ ETag }) => {
        this.#sent.push({ PartNumber: part.PartNumber, ETag })
      })
    // Whoever sends the next part, or keeps the file, is told.
    sending.catch(() => undefined)
    this.#sending = sending
  }

  #take(): Buffer {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    return bytes
  }
}
