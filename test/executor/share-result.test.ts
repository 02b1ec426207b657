/** What goes to another thread with a result: memory of about the size of what is read there. */
import { expect, test } from 'vitest'
import { sliceArray } from '../../src/executor/column/shared-array.ts'
import { shareResult } from '../../src/executor/task/share-result.ts'
import type { PrintResult } from '../../src/executor/task/task.ts'
import { ByteWriter } from '../../src/json/byte-writer.ts'

function printed(text: string, out: ByteWriter): PrintResult {
  out.truncate(0)
  out.copy(Buffer.from(text))
  return { kind: 'print', rowCount: 1, bytes: out.view(), rawBytes: out.length }
}

test('printed rows come without the memory that was left over', () => {
  const text = '{"id":"a"}'.repeat(100)
  const given = structuredClone(shareResult(printed(text, new ByteWriter(1 << 20)))) as PrintResult
  expect(Buffer.from(given.bytes).toString()).toBe(text)
  expect(given.bytes.buffer.byteLength).toBe(text.length)
})

test('printed rows that fill their memory are not copied once more', () => {
  const result = printed('a'.repeat(1000), new ByteWriter(1020))
  expect((shareResult(result) as PrintResult).bytes.buffer).toBe(result.bytes.buffer)
})

test('of a long array in shared memory a part is a view, of others a copy', () => {
  const shared = new Float64Array(new SharedArrayBuffer(80_000)).fill(1)
  expect(sliceArray(shared, 1000, 9000).buffer).toBe(shared.buffer)
  expect(sliceArray(shared, 1000, 9000)).toHaveLength(8000)
  expect(sliceArray(shared, 10, 20).buffer.byteLength).toBe(80)
  const own = new Float64Array(10_000)
  expect(sliceArray(own, 1000, 9000).buffer.byteLength).toBe(64_000)
})
