import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import { IngestPool } from '../../src/scheduler/insert/ingest-pool.ts'
import { RecordWriterThread } from '../../src/scheduler/insert/record-writer-thread.ts'
import { openRecords } from '../../src/storage/environment.ts'
import { type PrepareOptions, prepareRows } from '../../src/storage/prepare/prepare.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import type { WriteRequest } from '../../src/storage/write/record-writer.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const options: PrepareOptions = { form: 'logs3', nowMs: Date.UTC(2026, 0, 1) }

function openThread(): { directory: string; writer: RecordWriterThread } {
  const directory = temporaryDirectory()
  openRecords(directory, { readOnly: false }).root.close()
  const writer = new RecordWriterThread(directory)
  onTestFinished(() => writer.close())
  return { directory, writer }
}

function openReader(directory: string): RecordReader {
  const environment = openRecords(directory, { readOnly: true })
  onTestFinished(async () => {
    await environment.root.close()
  })
  return new RecordReader(environment)
}

function request(rows: readonly object[], objectNumber = 1): WriteRequest {
  const named = rows.map((row) => ({ project_id: 'P', log_id: 'g', ...row }))
  const prepared = prepareRows(Buffer.from(JSON.stringify(named)), options)
  return { rows: prepared, objectNumbers: [objectNumber] }
}

describe('the writer thread', () => {
  test('resolves once the rows are there for all threads to read', async () => {
    const { directory, writer } = openThread()
    const result = await writer.write(request([{ id: 'a' }, { id: 'b', input: 1 }]))
    expect(result.ids).toEqual(['a', 'b'])
    expect(result.objects).toMatchObject([{ object: 1, rows: 2, supersessions: 0 }])
    const reader = openReader(directory)
    expect(reader.lastTransaction()).toBe(result.transaction)
    expect(reader.latest(1, 'b')?.view.fieldText('input')).toBe('1')
  })

  test('takes many requests at once and gives each its own transaction, in order', async () => {
    const { directory, writer } = openThread()
    const results = await Promise.all(
      Array.from({ length: 300 }, (_, i) => writer.write(request([{ id: 'same', input: i }]))),
    )
    const transactions = results.map(({ transaction }) => transaction)
    expect(new Set(transactions).size).toBe(300)
    expect(transactions).toEqual([...transactions].sort((a, b) => a - b))
    const reader = openReader(directory)
    expect(reader.latest(1, 'same')?.view.fieldText('input')).toBe('299')
    expect(reader.versionAsOf(1, 'same', transactions[7]!)?.view.fieldText('input')).toBe('7')
  })

  test('hands on the error of one request and writes the others', async () => {
    const { writer } = openThread()
    const outcomes = await Promise.allSettled([
      writer.write(request([{ id: 'a' }])),
      writer.write(request([{ id: 'b' }], -1)),
      writer.write(request([{ id: 'c' }])),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const { reason } = outcomes[1] as PromiseRejectedResult
    expect(reason).toBeInstanceOf(AssayError)
  })

  test('closing waits for what was asked for, and refuses more', async () => {
    const { directory, writer } = openThread()
    const writes = Array.from({ length: 20 }, (_, i) => writer.write(request([{ id: `r${i}` }])))
    await writer.close()
    expect((await Promise.all(writes)).length).toBe(20)
    await expect(writer.write(request([{ id: 'late' }]))).rejects.toThrow('the records are closed')
    expect(openReader(directory).latest(1, 'r19')).toBeDefined()
  })
})

describe('a record of 256 MiB', () => {
  const bytes = 256 << 20

  /** Base64 with an escape here and there, so that its text is nothing that compresses or parses. */
  function longText(): Buffer {
    const text = Buffer.allocUnsafeSlow(bytes)
    const block = Buffer.from(randomBytes(49_152).toString('base64').replaceAll('+A', '\\n'))
    for (let at = 0; at < bytes; at += block.length) block.copy(text, at)
    text.write('z', bytes - 1)
    return text
  }

  test('is stored and read back byte for byte while the main thread stays free', async () => {
    const { directory, writer } = openThread()
    const pool = new IngestPool(directory, 1)
    onTestFinished(() => pool.close())
    const text = longText()
    const head = Buffer.from('[{"project_id":"P","log_id":"g","id":"big","input":"')
    const body = Buffer.allocUnsafeSlow(head.length + bytes + 3)
    head.copy(body)
    text.copy(body, head.length)
    body.write('"}]', head.length + bytes)

    let longestPauseMs = 0
    let last = performance.now()
    const ticker = setInterval(() => {
      longestPauseMs = Math.max(longestPauseMs, performance.now() - last)
      last = performance.now()
    }, 5)
    const { rows } = await pool.prepare([{ body, options }])
    expect(body.byteLength).toBe(0)
    await writer.write({ rows, objectNumbers: [1] })
    await writer.write(request([{ id: 'big', _is_merge: true, output: 1 }]))
    clearInterval(ticker)
    expect(longestPauseMs).toBeLessThan(1000)

    const reader = openReader(directory)
    const { view } = reader.latest(1, 'big')!
    const { start, end } = view.field('input')!
    expect(end - start).toBe(bytes + 2)
    expect(text.compare(view.bytes, start + 1, end - 1)).toBe(0)
    expect(view.fieldText('output')).toBe('1')
  }, 120_000)

  test('bodies that are wrong are refused across the thread as they are here', async () => {
    const pool = new IngestPool(openThread().directory, 1)
    onTestFinished(() => pool.close())
    const body = Buffer.from('[{"project_id":"P","log_id":"g","tags":1}]') as Buffer<ArrayBuffer>
    const { errors } = await pool.prepare([{ body, options }])
    expect(errors).toMatchObject([{ code: 'REQUEST_INVALID', path: 'rows[0].tags' }])
  })
})
