import type { ContentStore } from '../../../attachment/content-store.ts'
import { AssayError } from '../../../error.ts'
import type { Reply } from '../../reply.ts'

const chunkBytes = 256 * 1024

/** Shown by browsers without running anything. Everything else is saved. */
const shownTypes =
  /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/|video\/|text\/plain|application\/pdf)/

/** A file, or the one range of it that is asked for. */
export async function downloadReply(
  store: ContentStore,
  name: string,
  rangeHeader: string | undefined,
  signal: AbortSignal,
): Promise<Reply> {
  const details = await store.details(name)
  const size = await store.size(name)
  if (!details || size === undefined) {
    throw new AssayError('ROUTE_NOT_FOUND', 'the file has not been uploaded')
  }
  const { contentType, filename } = details
  const disposition = shownTypes.test(contentType) ? 'inline' : 'attachment'
  const headers = {
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=3600',
    'content-disposition': `${disposition}; filename*=UTF-8''${encodeRfc5987(filename)}`,
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    etag: `"${name.slice(0, 32)}"`,
  }
  const range = rangeHeader === undefined ? undefined : rangeOf(rangeHeader, size)
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${size}` }, body: '' }
  }
  const { start, end } = range ?? { start: 0, end: size }
  return {
    status: range ? 206 : 200,
    contentType,
    isCompressible: false,
    headers: {
      ...headers,
      ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    },
    body: chunksOf(store, name, { start, end }, signal),
  }
}

interface Range {
  readonly start: number
  /** The first byte that is not sent. */
  readonly end: number
}

/** Undefined for a header that asks for the whole file, or for what is not served: several ranges. */
function rangeOf(header: string, size: number): Range | 'unsatisfiable' | undefined {
  const [, first, last] = header.match(/^bytes=(\d{0,15})-(\d{0,15})$/) ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return start < end ? { start, end } : 'unsatisfiable'
}

async function* chunksOf(
  store: ContentStore,
  name: string,
  { start, end }: Range,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const file = await store.open(name)
  try {
    for (let position = start; position < end && !signal.aborted; ) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, end - position))
      const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
      if (bytesRead === 0) throw new AssayError('STORAGE_CORRUPT', 'a file is shorter than it was')
      position += bytesRead
      yield chunk.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

function encodeRfc5987(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
