/**
 * Who writes below a prefix: an object that says so, made and replaced under conditions, so that of several who try one
 * succeeds. Its holder writes it anew again and again; whoever finds one that is old takes its place.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { AssayError } from '../error.ts'
import { statusOf } from './s3-error.ts'

export interface Lease {
  /** Throws STORAGE_LOCKED when somebody else has taken it. */
  requireHeld(): void
  end(): Promise<void>
}

const renewEveryMs = 15_000
const oldAfterMs = 60_000

/** Throws STORAGE_LOCKED while somebody else has it. */
export async function takeLease(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  place: string,
): Promise<Lease> {
  const holder = randomUUID()
  const body = () => JSON.stringify({ holder, host: hostname(), process: process.pid })
  const put = async (condition: { IfNoneMatch: string } | { IfMatch: string | undefined }) => {
    const { ETag } = await client.send(
      new PutObjectCommand({ ...object, Body: `${body()}\n${Date.now()}`, ...condition }),
    )
    return ETag
  }
  const found = await find(client, object)
  if (found && found.ageMs < oldAfterMs) throw inUse(place, found.text)
  let etag: string | undefined
  try {
    etag = await put(found ? { IfMatch: found.etag } : { IfNoneMatch: '*' })
  } catch (thrown) {
    if (isRefused(thrown)) throw inUse(place, '')
    throw thrown
  }
  let lost: unknown
  let renewing: Promise<void> = Promise.resolve()
  const renew = async () => {
    try {
      etag = await put({ IfMatch: etag })
    } catch (thrown) {
      // Any other failure is tried again, until others may take it for old.
      if (isRefused(thrown)) lost = thrown
    }
  }
  const timer = setInterval(() => {
    renewing = renew()
  }, renewEveryMs)
  timer.unref()
  return {
    requireHeld: () => {
      if (lost !== undefined) throw inUse(place, '')
    },
    end: async () => {
      clearInterval(timer)
      await renewing
      if (lost === undefined) await client.send(new DeleteObjectCommand(object))
    },
  }
}

/** Clocks that differ by much make a lease look older or newer than it is. */
async function find(client: S3Client, object: { readonly Bucket: string; readonly Key: string }) {
  try {
    const { Body, ETag, LastModified } = await client.send(new GetObjectCommand(object))
    const text = (await Body?.transformToString()) ?? ''
    const ageMs = LastModified === undefined ? 0 : Date.now() - LastModified.getTime()
    return { text, etag: ETag, ageMs }
  } catch (thrown) {
    if (statusOf(thrown) === 404 && !(thrown instanceof Error && thrown.name === 'NoSuchBucket')) {
      return undefined
    }
    throw thrown
  }
}

function isRefused(thrown: unknown): boolean {
  const status = statusOf(thrown)
  return status === 412 || status === 409
}

function inUse(place: string, said: string): AssayError {
  const { host, process: id } = readHolder(said)
  const who = host === undefined ? 'another process' : `process ${id} of ${host}`
  return new AssayError('STORAGE_LOCKED', `${who} writes to ${place}`, {
    hint: 'wait until it has ended; if it was killed, a minute is enough',
  })
}

function readHolder(text: string): { readonly host?: string; readonly process?: number } {
  try {
    return JSON.parse(text.split('\n')[0]!) as { host?: string; process?: number }
  } catch {
    return {}
  }
}
