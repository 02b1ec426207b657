import { describe, expect, test } from 'vitest'
import { prepareRows } from '../../src/storage/prepare/prepare.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import type { WriteOutcome } from '../../src/storage/write/record-writer.ts'
import { RecordWriter } from '../../src/storage/write/record-writer.ts'
import { printRow, TemporaryRecords } from '../support/temporary-records.ts'

function transactionOf(outcome: WriteOutcome): number {
  if ('error' in outcome) throw new Error(outcome.error.message)
  return outcome.written.transaction
}

describe('a record', () => {
  test('shows every column of its object, sorted, and its other fields among them', () => {
    const records = new TemporaryRecords(() => Date.UTC(2026, 0, 1))
    records.insert([
      { id: 'a', span_id: 's', Z: 1, zz: [2], input: { x: 1 }, created: '2025-01-01' },
    ])
    const { view } = records.reader.latest(1, 'a')!
    expect(printRow(view)).toBe(
      '{"Z":1,"_async_scoring_state":null,"_pagination_key":"p07590176156653977600",' +
        '"_xact_id":"1000196409149882368","audit_data":null,"classifications":null,' +
        '"comments":null,"context":null,"created":"2025-01-01T00:00:00Z","error":null,' +
        '"expected":null,"facets":null,"id":"a","input":{"x":1},"is_root":true,"log_id":"g",' +
        '"metadata":null,"metrics":null,"org_id":"O","origin":null,"output":null,' +
        '"project_id":"P","root_span_id":"s","scores":null,"span_attributes":null,"span_id":"s",' +
        '"span_parents":null,"tags":null,"zz":[2]}',
    )
    expect(records.reader.fieldPaths(1)).toEqual([['Z'], ['input', 'x'], ['zz']])
  })

  test('shows the columns of its type alone', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a', scores: { x: 1 } }])
    const { view } = records.reader.latest(1, 'a')!
    const keys = (type: 'dataset' | 'experiment') =>
      Object.keys(
        JSON.parse(
          printRow(view, { type, id: 'I', projectId: 'P', organizationId: 'O' }),
        ) as object,
      )
    expect(keys('dataset').join(' ')).toBe(
      '_pagination_key _xact_id audit_data classifications comments created dataset_id expected ' +
        'facets id input is_root metadata origin project_id root_span_id scores span_id tags',
    )
    expect(keys('experiment').join(' ')).toBe(
      '_pagination_key _xact_id audit_data classifications comments context created error ' +
        'expected experiment_id facets id input is_root metadata metrics origin output ' +
        'project_id root_span_id scores span_attributes span_id span_parents tags',
    )
  })

  test('keeps pagination key, time and span when it is replaced, and nothing else', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a', created: '2025-01-01', input: 1, span_parents: ['p'] }])
    const first = records.latest('a')!
    records.insert([{ id: 'a', output: 2 }])
    const second = records.latest('a')!
    expect(second).toMatchObject({ input: null, output: 2, span_parents: ['p'], is_root: false })
    for (const name of ['_pagination_key', 'created', 'span_id', 'root_span_id']) {
      expect(second[name]).toBe(first[name])
    }
    expect(BigInt(second._xact_id as string)).toBeGreaterThan(BigInt(first._xact_id as string))
    records.insert([{ id: 'a', created: '2024-01-01', span_id: 's' }])
    expect(records.latest('a')).toMatchObject({
      created: '2024-01-01T00:00:00Z',
      span_id: 's',
      root_span_id: 's',
      is_root: true,
    })
  })

  test('is gone after a delete, and new when its id comes again', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a', input: 1 }])
    const first = records.latest('a')!
    const before = records.reader.lastTransaction()
    records.insert([
      { id: 'a', _object_delete: true },
      { id: 'b', _object_delete: true },
    ])
    const deleted = records.reader.lastTransaction()
    expect(records.latest('a')).toBeUndefined()
    records.insert([{ id: 'a', _is_merge: true, output: 2 }])
    const second = records.latest('a')!
    expect(second).toMatchObject({ input: null, output: 2 })
    expect(second._pagination_key).not.toBe(first._pagination_key)
    expect(records.reader.versionAsOf(1, 'a', deleted)).toBeUndefined()
    expect(records.reader.versionAsOf(1, 'a', before)?.view.fieldText('input')).toBe('1')
    expect(records.reader.versionAsOf(1, 'a', before - 1)).toBeUndefined()
  })

  test.each([
    ['any characters', '\u0000 "/\\\n😀 é'],
    ['nothing', ''],
    ['half of a surrogate pair', '\ud800'],
    ['the other half', '\udc00'],
    ['100,000 characters', 'é'.repeat(100_000)],
    ['100,000 other characters', `${'é'.repeat(99_999)}!`],
    ['a prototype', '__proto__'],
  ])('may have an id of %s', (_, id) => {
    const records = new TemporaryRecords()
    records.insert([
      { id, input: 1 },
      { id: `${id}x`, input: 2 },
    ])
    records.insert([{ id, _is_merge: true, output: 3 }])
    expect(records.latest(id)).toMatchObject({ id, input: 1, output: 3 })
    expect(records.latest(`${id}x`)).toMatchObject({ input: 2, output: null })
  })
})

describe('merging', () => {
  function merged(base: object, ...patches: object[]): Record<string, unknown> {
    const records = new TemporaryRecords()
    for (const row of [base, ...patches]) {
      records.insert([{ ...row, id: 'a', _is_merge: row !== base }])
    }
    return records.latest('a')!
  }

  test('objects merge deeply, everything else replaces, null too', () => {
    const base = { metadata: { a: { b: 1, c: [1, 2] }, d: 'x' }, input: { q: 1 }, output: 'o' }
    const patch = { metadata: { a: { c: [3], e: null }, d: { f: 1 } }, input: [1], output: null }
    expect(merged(base, patch)).toMatchObject({
      metadata: { a: { b: 1, c: [3], e: null }, d: { f: 1 } },
      input: [1],
      output: null,
    })
  })

  test('tags become the union, unless a path says no', () => {
    expect(merged({ tags: ['a', 'b'] }, { tags: ['c', 'a'] }).tags).toEqual(['a', 'b', 'c'])
    expect(merged({ tags: ['a'] }, { tags: ['c'], _merge_paths: [['tags']] }).tags).toEqual(['c'])
    expect(merged({ tags: ['a'] }, { tags: null }).tags).toBeNull()
    expect(merged({}, { tags: ['c'] }).tags).toEqual(['c'])
    expect(merged({ metadata: { tags: ['a'] } }, { metadata: { tags: ['c'] } }).metadata).toEqual({
      tags: ['c'],
    })
  })

  test('does not go below a merge path', () => {
    const base = { input: { a: { x: 1 }, b: { x: 1 } }, output: { x: 1 } }
    const patch = { input: { a: { y: 2 }, b: { y: 2 } }, output: { y: 2 } }
    expect(merged(base, { ...patch, _merge_paths: [['input', 'a'], ['output']] })).toMatchObject({
      input: { a: { y: 2 }, b: { x: 1, y: 2 } },
      output: { y: 2 },
    })
  })

  test('deletes from arrays', () => {
    const base = { tags: ['a', 'b', 'c'], metadata: { list: [1, { x: 1, y: 2 }, '1', 2] } }
    const patch = {
      _array_delete: [
        { path: ['tags'], delete: ['b', 'z'] },
        { path: ['metadata', 'list'], delete: [{ y: 2, x: 1 }, 1.0] },
        { path: ['metadata', 'nothing', 'here'], delete: [1] },
        { path: ['input'], delete: [1] },
        { path: [], delete: [1] },
      ],
    }
    expect(merged(base, patch)).toMatchObject({ tags: ['a', 'c'], metadata: { list: ['1', 2] } })
    expect(merged(base, { ...patch, tags: ['b', 'd'] }).tags).toEqual(['a', 'c', 'd'])
  })

  test('takes names of what objects inherit in JavaScript for names like any other', () => {
    const records = new TemporaryRecords()
    const send = (text: string) => records.insertText(Buffer.from(`{"events":[${text}]}`))
    const field = (name: string) => records.reader.latest(1, 'a')!.view.fieldText(name)
    send('{"id":"a","metadata":{"__proto__":{"x":1},"constructor":"Ferrari","k":1},"valueOf":1}')
    send(
      '{"id":"a","_is_merge":true,"__proto__":{"q":1},"constructor":1,"valueOf":2,' +
        '"metadata":{"__proto__":{"y":2},"constructor":{"y":1},"prototype":3,"toString":4}}',
    )
    expect(field('metadata')).toBe(
      '{"__proto__":{"x":1,"y":2},"constructor":{"y":1},"k":1,"prototype":3,"toString":4}',
    )
    expect(['__proto__', 'constructor', 'valueOf'].map(field)).toEqual(['{"q":1}', '1', '2'])

    send(
      '{"id":"a","_is_merge":true,"_merge_paths":[["metadata","__proto__"],["__proto__"]],' +
        '"__proto__":{"z":1},"metadata":{"__proto__":[1,2,3],"hasOwnProperty":[4]}}',
    )
    send(
      '{"id":"a","_is_merge":true,"_array_delete":[' +
        '{"path":["metadata","__proto__"],"delete":[2]},' +
        '{"path":["metadata","hasOwnProperty"],"delete":[4]}]}',
    )
    expect(field('__proto__')).toBe('{"z":1}')
    expect(field('metadata')).toContain('"__proto__":[1,3]')
    expect(field('metadata')).toContain('"hasOwnProperty":[]')
  })

  test('leaves the text of what it does not touch', () => {
    const records = new TemporaryRecords()
    const send = (text: string) => records.insertText(Buffer.from(`{"events":[${text}]}`))
    send('{"id":"a","metadata":{"n":12345678901234567890,"f":1.50,"o":{"x":1e999,"y":1}}}')
    send('{"id":"a","_is_merge":true,"metadata":{"o":{"y":98765432109876543210}}}')
    expect(records.reader.latest(1, 'a')!.view.fieldText('metadata')).toBe(
      '{"n":12345678901234567890,"f":1.50,"o":{"x":1e999,"y":98765432109876543210}}',
    )
  })

  test('keeps the place of the first row', () => {
    const base = { created: '2025-01-01', span_id: 's', root_span_id: 'r' }
    const patch = { created: '2026-01-01', span_id: 's2', root_span_id: 'r2', span_parents: ['p'] }
    expect(merged(base, patch)).toMatchObject({
      created: '2025-01-01T00:00:00Z',
      span_id: 's',
      root_span_id: 'r',
      span_parents: null,
      is_root: true,
    })
  })

  test('takes a place that is told later over one that was made up', () => {
    const patch = { created: '2026-01-01', span_id: 's', root_span_id: 'r', span_parents: ['p'] }
    expect(merged({ scores: { a: 1 } }, patch, { span_id: 'no' })).toMatchObject({
      created: '2026-01-01T00:00:00Z',
      span_id: 's',
      root_span_id: 'r',
      span_parents: ['p'],
      is_root: false,
      scores: { a: 1 },
    })
    expect(merged({}, { span_id: 's' })).toMatchObject({ span_id: 's', root_span_id: 's' })
  })

  test('inserts where there is nothing to merge into', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a', _is_merge: true, input: null, output: 1 }])
    expect(records.latest('a')).toMatchObject({ input: null, output: 1 })
    expect(records.reader.latest(1, 'a')!.view.field('input')).toBeUndefined()
  })

  test('a parent given by its row id becomes the parent span', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'p', span_id: 'ps', root_span_id: 'pr' }])
    records.insert([
      { id: 'c', _parent_id: 'p' },
      { id: 'd', _parent_id: 'unknown' },
    ])
    records.insert([{ id: 'c', _is_merge: true, output: 1 }])
    expect(records.latest('c')).toMatchObject({
      span_parents: ['ps'],
      root_span_id: 'pr',
      is_root: false,
    })
    expect(records.latest('d')).toMatchObject({ span_parents: null, is_root: true })
  })

  test('who wrote a row goes to audit_data, if the row says so', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a', input: 1 }])
    records.insert([
      {
        id: 'a',
        _is_merge: true,
        scores: { s: 1 },
        _audit_source: 'app',
        _audit_metadata: { u: 1 },
      },
    ])
    records.insert([{ id: 'a', _is_merge: true, _audit_source: 'external' }])
    const { audit_data, _xact_id } = records.latest('a')!
    expect(audit_data).toEqual([
      {
        _xact_id: expect.any(String),
        audit_data: { action: 'merge' },
        metadata: { u: 1 },
        source: 'app',
      },
      { _xact_id, audit_data: { action: 'merge' }, metadata: {}, source: 'external' },
    ])
  })

  test('comments go to the record they are on', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a', input: 1 }])
    records.insert([{ id: 'c', origin: { id: 'a' }, comment: { text: 'one' } }])
    records.insert([
      { id: 'd', origin: { id: 'a' }, comment: { text: 'two' } },
      { id: 'e', origin: { id: 'nobody' }, comment: { text: 'lost' } },
    ])
    const { comments, input } = records.latest('a')!
    expect(input).toBe(1)
    expect(comments).toMatchObject([
      { id: 'c', comment: { text: 'one' } },
      { id: 'd', comment: { text: 'two' } },
    ])
    expect(records.latest('c')).toBeUndefined()
    expect(records.latest('e')).toBeUndefined()
  })
})

describe('requests', () => {
  test('rows of one id apply in order', () => {
    const records = new TemporaryRecords()
    records.insert([
      { id: 'a', input: 1 },
      { id: 'a', _is_merge: true, output: 2 },
      { id: 'b', input: 1 },
      { id: 'b', _object_delete: true },
      { id: 'c', _object_delete: true },
      { id: 'c', input: 3 },
      { id: 'c', input: 4 },
    ])
    expect(records.latest('a')).toMatchObject({ input: 1, output: 2 })
    expect(records.latest('b')).toBeUndefined()
    expect(records.latest('c')).toMatchObject({ input: 4 })
    const [entry] = [...records.reader.log(0)]
    expect(entry!.objects).toMatchObject([{ object: 1, rows: 6, supersessions: 3 }])
    expect(records.reader.objectsWrittenAfter(0)).toEqual([1])
    expect(records.reader.objectsWrittenAfter(entry!.transaction)).toEqual([])
  })

  test('transactions rise when the clock steps back, and after a restart', () => {
    let now = Date.UTC(2026, 0, 1)
    const records = new TemporaryRecords(() => now)
    const first = transactionOf(records.insert([{ id: 'a' }]))
    now -= 86_400_000
    const second = transactionOf(records.insert([{ id: 'b' }]))
    expect(second).toBe(first + 1)
    const prepared = prepareRows(Buffer.from('{"events":[{"id":"c"}]}'), {
      form: 'events',
      object: { type: 'dataset', id: 'D' },
      nowMs: now,
    })
    const restarted = new RecordWriter(records.environment, { now: () => now })
    const [outcome] = restarted.write([{ rows: prepared, objectNumbers: [2] }])
    expect(transactionOf(outcome!)).toBe(first + 2)
  })

  test('of a group each has its transaction, and a bad one fails alone', () => {
    const records = new TemporaryRecords()
    const request = (id: string) => ({
      rows: prepareRows(Buffer.from(JSON.stringify([{ id, dataset_id: 'D', extra: 1 }])), {
        form: 'logs3',
        nowMs: 0,
      }),
      objectNumbers: [3],
    })
    const bad = { ...request('bad'), objectNumbers: [-1] }
    const [first, second, third] = records.writer.write([request('a'), bad, request('b')])
    expect(second).toMatchObject({ error: { code: 'STORAGE_UNAVAILABLE' } })
    expect(transactionOf(third!)).toBe(transactionOf(first!) + 1)
    expect(records.latest('a', 3)).toBeDefined()
    expect(records.latest('b', 3)).toBeDefined()
    expect([...records.reader.log(0)]).toHaveLength(2)
    expect(records.reader.fieldPaths(3)).toEqual([['extra']])
  })

  test('of more than 65,536 rows are one transaction to everyone', () => {
    const records = new TemporaryRecords(() => 1e12)
    const before = transactionOf(records.insert([{ id: 'before' }]))
    const rows = Array.from({ length: 70_000 }, (_, i) => ({ id: `r${i}` }))
    const transaction = transactionOf(records.insert(rows))
    const reader = new RecordReader(records.environment)
    const first = records.latest('r0')!
    const last = records.latest('r69999')!
    expect(last._xact_id).toBe(first._xact_id)
    expect(String(last._pagination_key) > String(first._pagination_key)).toBe(true)
    const { first: firstTransaction } = reader.spills()[0]!
    expect(reader.spills()).toEqual([{ first: transaction - 1, last: transaction }])
    expect(reader.snapshotAt(firstTransaction)).toBe(before)
    expect(reader.snapshotAt(transaction)).toBe(transaction)
    expect(reader.lastTransaction()).toBe(transaction)
    expect([...reader.readDelta(1, before, transaction)]).toHaveLength(70_000)
    const after = transactionOf(records.insert([{ id: 'after' }]))
    expect(after).toBe(transaction + 1)
  })

  test('without rows have a transaction too', () => {
    const records = new TemporaryRecords()
    const transaction = transactionOf(records.insert([]))
    expect(records.reader.lastTransaction()).toBe(transaction)
    expect(records.reader.objectsWrittenAfter(0)).toEqual([])
  })
})

test('reads in one transaction agree, whatever is written meanwhile', () => {
  const records = new TemporaryRecords()
  records.insert([{ id: 'a', input: 1 }])
  records.environment.root.resetReadTxn()
  const transaction = records.environment.root.useReadTransaction()
  const last = records.reader.lastTransaction(transaction)
  records.insert([{ id: 'a', input: 2, extra: 1 }])
  expect(records.reader.lastTransaction(transaction)).toBe(last)
  expect(records.reader.latest(1, 'a', transaction)?.view.fieldText('input')).toBe('1')
  expect(records.reader.fieldPaths(1, transaction)).toEqual([])
  transaction.done()
  expect(records.latest('a')).toMatchObject({ input: 2 })
})
