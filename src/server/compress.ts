import { pipeline, Readable } from 'node:stream'
import { constants, createGzip } from 'node:zlib'

/**
 * Compresses a stream in zlib's threads. An error of the source, and the end of whoever reads, reach
 * the other side as they would without compression.
 */
export async function* compress(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 })
  const source = Readable.from(chunks, { objectMode: true, highWaterMark: 1 })
  pipeline(source, gzip, () => undefined)
  yield* gzip
}
