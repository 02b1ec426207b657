/** Decodes a text of as many bytes as it is told, and answers with its length, or the code of the error. */
import { parentPort } from 'node:worker_threads'
import { AssayError } from '../../src/error.ts'
import { decodeUtf8 } from '../../src/json/utf8.ts'

parentPort!.on('message', (bytes: number) => {
  try {
    parentPort!.postMessage(decodeUtf8(Buffer.alloc(bytes, 'a')).length)
  } catch (thrown) {
    parentPort!.postMessage(thrown instanceof AssayError ? thrown.code : String(thrown))
  }
})
