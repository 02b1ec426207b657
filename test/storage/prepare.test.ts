import { describe, expect, test } from 'vitest'
import { AssayError } from '../../src/error.ts'
import {
  type PrepareOptions,
  prepareRows,
  prepareTogether,
} from '../../src/storage/prepare/prepare.ts'
import { type PreparedRows, rowActions } from '../../src/storage/row/prepared-rows.ts'
import { RowView, rowFlags } from '../../src/storage/row/row.ts'

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const logs = { project_id: 'P', log_id: 'g' }
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function prepare(body: string | Uint8Array, options: Partial<PrepareOptions> = {}): PreparedRows {
  return prepareRows(Buffer.from(body), { form: 'logs3', nowMs, ...options })
}

function view(rows: PreparedRows, i: number): RowView {
  return new RowView(rows.bytes.subarray(i === 0 ? 0 : rows.ends[i - 1], rows.ends[i]))
}

/** The stored fields of one row with their exact texts. */
function fieldsOf(rows: PreparedRows, i = 0): Record<string, string> {
  const row = view(rows, i)
  return Object.fromEntries(
    Array.from(row.fields(), ({ name, value: { start, end } }) => [
      name,
      row.bytes.toString('utf8', start, end),
    ]),
  )
}

function prepareOne(row: object, options?: Partial<PrepareOptions>): Record<string, string> {
  return fieldsOf(prepare(JSON.stringify({ rows: [{ ...logs, ...row }] }), options))
}

function failure(body: string | Uint8Array, options: Partial<PrepareOptions> = {}): AssayError {
  try {
    prepare(body, options)
  } catch (error) {
    if (error instanceof AssayError) return error
    throw error
  }
  throw new Error('the body was accepted')
}

function rowFailure(row: object): AssayError {
  return failure(
    JSON.stringify({
      rows: [
        { ...logs, id: 'ok' },
        { ...logs, ...row },
      ],
    }),
  )
}

describe('what a row does not say is filled in', () => {
  test('id, time, span and root', () => {
    const { id, span_id, root_span_id, ...rest } = prepareOne({ input: 1 })
    expect(JSON.parse(id!)).toMatch(uuid)
    expect(JSON.parse(span_id!)).toMatch(uuid)
    expect(root_span_id).toBe(span_id)
    expect(rest).toEqual({ created: '"2026-01-02T03:04:05.678Z"', input: '1', is_root: 'true' })
  })

  test('what is given stays, null is as good as nothing', () => {
    const row = { id: 'a', span_id: 's', root_span_id: 'r', span_parents: ['p'], input: null }
    expect(prepareOne({ ...row, created: '2024-05-06T07:08:09+02:00', tags: null })).toEqual({
      id: '"a"',
      span_id: '"s"',
      root_span_id: '"r"',
      span_parents: '["p"]',
      is_root: 'false',
      created: '"2024-05-06T05:08:09Z"',
    })
    expect(prepareOne({ id: null, span_id: null, created: null, _is_merge: null }).id).toBeDefined()
    expect(prepareOne({ span_parents: [] }).is_root).toBe('true')
  })

  test('the header tells what was made up', () => {
    const flags = (row: object) =>
      view(prepare(JSON.stringify({ rows: [{ ...logs, ...row }] })), 0).flags
    expect(flags({ id: 'a' })).toBe(
      rowFlags.createdGenerated | rowFlags.spanGenerated | rowFlags.rootGenerated,
    )
    expect(flags({ created: '2024-01-01', span_id: 's', root_span_id: 'r' })).toBe(0)
  })

  test('microseconds of created are kept', () => {
    expect(prepareOne({ created: '2024-05-06T07:08:09.123456Z' }).created).toBe(
      '"2024-05-06T07:08:09.123456Z"',
    )
  })
})

describe('what the server knows better is not stored', () => {
  test('keys, control members and the names of the object', () => {
    const row = {
      id: 'a',
      span_id: 's',
      _xact_id: '1',
      _pagination_key: 'p1',
      is_root: false,
      org_id: 'X',
      _async_scoring_control: {},
      _skip_async_scoring: true,
      _audit_source: 'app',
      _audit_metadata: { user: 1 },
      _parent_id: 'b',
      _merge_paths: [['a']],
      _array_delete: [{ path: ['tags'], delete: ['x'] }],
      _is_merge: false,
      _object_delete: false,
    }
    const rows = prepare(JSON.stringify({ rows: [{ ...logs, ...row }] }))
    expect(Object.keys(fieldsOf(rows))).toEqual([
      'created',
      'id',
      'is_root',
      'root_span_id',
      'span_id',
    ])
    expect(fieldsOf(rows).is_root).toBe('true')
    expect(rows.controls).toEqual([
      {
        row: 0,
        mergePaths: [['a']],
        arrayDeletes: [{ path: ['tags'], values: ['"x"'] }],
        parentId: 'b',
        audit: { source: 'app', metadata: '{"user":1}' },
      },
    ])
  })
})

describe('values keep their text', () => {
  test('numbers, escapes, duplicate keys inside values, order of keys', () => {
    const input = '{"z":1.50E+3, "a":12345678901234567890, "a":-0.0, "e":"\\u00e9\\/", "n":1e999}'
    const rows = prepare(`{"rows":[{"project_id":"P","log_id":"g","input":${input}}]}`)
    expect(fieldsOf(rows).input).toBe(input.replaceAll(', ', ','))
  })

  test('unknown fields are kept, and told', () => {
    const rows = prepare(
      JSON.stringify({ rows: [{ ...logs, 'a "b"\n': 1, __proto__x: 2, scores: {}, gone: null }] }),
    )
    expect(fieldsOf(rows)).toMatchObject({ 'a "b"\n': '1', __proto__x: '2' })
    expect(rows.fieldPaths).toEqual([[['a "b"\n'], ['__proto__x']]])
  })

  test('__proto__ is a field like any other', () => {
    const rows = prepare('{"rows":[{"project_id":"P","log_id":"g","__proto__":{"a":1}}]}')
    expect(rows.fieldPaths).toEqual([[['__proto__'], ['__proto__', 'a']]])
    expect(view(rows, 0).fieldText('__proto__')).toBe('{"a":1}')
  })

  test('a name is the same however it is escaped, and the last value wins', () => {
    const rows = prepare(
      '{"rows":[{"project_id":"P","log_id":"g","input":1,"\\u0069nput":2,"id":"a","id":"b"}]}',
    )
    expect(fieldsOf(rows)).toMatchObject({ input: '2', id: '"b"' })
    expect(rows.ids).toEqual(['b'])
    const last = prepare('{"rows":[{"project_id":"P","log_id":"g","input":1,"input":null}]}')
    expect(fieldsOf(last).input).toBeUndefined()
  })

  test('inputs means input, unless there is one', () => {
    expect(prepareOne({ inputs: [1], metadata: { a: 1 } })).toMatchObject({
      input: '[1]',
      metadata: '{"a":1}',
    })
    expect(prepareOne({ inputs: [1], input: null }).input).toBe('[1]')
    expect(prepareOne({ inputs: 1, input: 2 })).toMatchObject({ inputs: '1', input: '2' })
    expect(prepareOne({ inputs: 1 }).inputs).toBeUndefined()
  })

  test('output means expected in datasets alone, unless there is one', () => {
    const one = (row: object) => fieldsOf(prepare(JSON.stringify({ rows: [row] })))
    const renamed = one({ output: 'x', dataset_id: 'D', metadata: { a: 1 }, expected: null })
    expect(renamed).toMatchObject({ expected: '"x"', metadata: '{"a":1}' })
    expect(renamed.output).toBeUndefined()
    expect(one({ dataset_id: 'D', output: 1, expected: 2 })).toMatchObject({
      output: '1',
      expected: '2',
    })
    expect(one({ experiment_id: 'E', output: 1 })).toMatchObject({ output: '1' })
  })
})

describe('objects', () => {
  test('each row names its own, and the distinct ones are listed', () => {
    const rows = prepare(
      JSON.stringify({
        rows: [
          { experiment_id: 'E', project_id: 'P' },
          { dataset_id: 'D', log_id: null },
          { ...logs },
          { experiment_id: 'E' },
        ],
        api_version: 2,
      }),
    )
    expect(rows.objects).toEqual([
      { type: 'experiment', id: 'E' },
      { type: 'dataset', id: 'D' },
      { type: 'project_logs', id: 'P' },
    ])
    expect([...rows.objectOf]).toEqual([0, 1, 2, 0])
  })

  test('events belong to the object of the request, and may say so', () => {
    const options: Partial<PrepareOptions> = {
      form: 'events',
      object: { type: 'experiment', id: 'E' },
    }
    const rows = prepare(
      '{"events":[{},{"experiment_id":"E"},{"project_id":"any","dataset_id":null}]}',
      options,
    )
    expect(rows.objects).toEqual([{ type: 'experiment', id: 'E' }])
    const other = failure('{"events":[{},{},{},{"experiment_id":"F"}]}', options)
    expect(other).toMatchObject({ code: 'REQUEST_INVALID', path: 'events[3].experiment_id' })
    expect(failure('{"events":[{"dataset_id":"D"}]}', options).path).toBe('events[0].dataset_id')
  })

  test.each([
    [{}, 'rows[0]', 'names no object'],
    [{ experiment_id: 'E', dataset_id: 'D' }, 'rows[0]', 'names both'],
    [{ experiment_id: 'E', prompt_session_id: 'S' }, 'rows[0]', 'names both'],
    [{ project_id: 'P' }, 'rows[0].log_id', 'must be "g", "p" or "v"'],
    [{ project_id: 'P', log_id: 'x' }, 'rows[0].log_id', 'must be "g", "p" or "v"'],
    [{ prompt_session_id: 7, log_id: 'x' }, 'rows[0].prompt_session_id', 'must be a string'],
    [{ experiment_id: 7 }, 'rows[0].experiment_id', 'must be a string'],
  ])('%j is refused', (row, path, message) => {
    const error = failure(JSON.stringify({ rows: [row] }))
    expect(error).toMatchObject({ code: 'REQUEST_INVALID', path })
    expect(error.message).toContain(message)
  })
})

describe('actions', () => {
  test('replace, merge, delete and comment', () => {
    const rows = prepare(
      JSON.stringify({
        rows: [
          { ...logs, id: 'a' },
          { ...logs, id: 'a', _is_merge: true, input: null },
          { ...logs, id: 'a', _object_delete: true, input: 'gone' },
          { ...logs, id: 'c', origin: { id: 'a' }, comment: { text: 'hm' }, _audit_source: 'app' },
          { ...logs, id: 'd', origin: { id: 'a' }, comment: { text: 'hm' }, input: 1 },
        ],
      }),
    )
    const { replace, merge, delete: remove, comment } = rowActions
    expect([...rows.actions]).toEqual([replace, merge, remove, comment, replace])
    expect(fieldsOf(rows, 1).input).toBe('null')
    expect(fieldsOf(rows, 2)).toEqual({ id: '"a"' })
    expect(view(rows, 2).isTombstone).toBe(true)
    expect(JSON.parse(fieldsOf(rows, 3).comments!)).toEqual([
      {
        id: 'c',
        created: '2026-01-02T03:04:05.678Z',
        comment: { text: 'hm' },
        source: 'app',
        metadata: null,
      },
    ])
    expect(rows.controls).toEqual([{ row: 3, commentOn: 'a' }])
    expect(rows.ids).toEqual(['a', 'a', 'a', 'c', 'd'])
  })

  test('a delete must name its record', () => {
    expect(rowFailure({ _object_delete: true })).toMatchObject({
      code: 'REQUEST_INVALID',
      path: 'rows[1].id',
    })
  })
})

describe('wrong rows are refused by place', () => {
  test.each([
    [{ id: 7 }, 'id'],
    [{ id: { a: 1 } }, 'id'],
    [{ tags: 'x' }, 'tags'],
    [{ tags: ['x', 1] }, 'tags[1]'],
    [{ tags: { a: 1 } }, 'tags'],
    [{ metadata: [1] }, 'metadata'],
    [{ metadata: 'x' }, 'metadata'],
    [{ metrics: 1 }, 'metrics'],
    [{ span_attributes: true }, 'span_attributes'],
    [{ scores: [0.5] }, 'scores'],
    [{ scores: { a: 1, b: 'good' } }, 'scores.b'],
    [{ scores: { a: {} } }, 'scores.a'],
    [{ span_id: 1 }, 'span_id'],
    [{ span_parents: 'p' }, 'span_parents'],
    [{ created: 'yesterday' }, 'created'],
    [{ created: 1700000000 }, 'created'],
    [{ created: '2024-02-30' }, 'created'],
    [{ _is_merge: 'yes' }, '_is_merge'],
    [{ _object_delete: 1, id: 'a' }, '_object_delete'],
    [{ _merge_paths: ['a'] }, '_merge_paths[0]'],
    [{ _merge_paths: [['a', 1]] }, '_merge_paths[0][1]'],
    [{ _array_delete: { path: ['a'] } }, '_array_delete'],
    [{ _array_delete: [{ path: ['a'] }] }, '_array_delete[0].delete'],
    [{ _array_delete: [{ delete: [] }] }, '_array_delete[0].path'],
    [{ _parent_id: 1 }, '_parent_id'],
    [{ _audit_source: 1 }, '_audit_source'],
    [{ _audit_metadata: [] }, '_audit_metadata'],
  ])('%j', (row, member) => {
    expect(rowFailure(row)).toMatchObject({
      code: 'REQUEST_INVALID',
      status: 400,
      path: `rows[1].${member}`,
    })
  })

  test('scores may be numbers, booleans and null', () => {
    expect(prepareOne({ scores: { a: 0.5, b: true, c: null } }).scores).toBe(
      '{"a":0.5,"b":true,"c":null}',
    )
  })
})

describe('wrong bodies are refused', () => {
  test.each([
    ['', 'REQUEST_NOT_JSON'],
    ['{"rows":[{"id":"a"', 'REQUEST_NOT_JSON'],
    ['{"rows":[]} x', 'REQUEST_NOT_JSON'],
    ['{"rows":[{"input":NaN}]}', 'REQUEST_NOT_JSON'],
    ['{"rows":[{"input":-Infinity}]}', 'REQUEST_NOT_JSON'],
    ['null', 'REQUEST_INVALID'],
    ['"rows"', 'REQUEST_INVALID'],
    ['{}', 'REQUEST_INVALID'],
    ['{"rows":null}', 'REQUEST_INVALID'],
    ['{"rows":{"type":"logs3_overflow"}}', 'REQUEST_INVALID'],
    ['{"rows":[null]}', 'REQUEST_INVALID'],
    ['{"rows":[[]]}', 'REQUEST_INVALID'],
    ['{"events":[]}', 'REQUEST_INVALID'],
    [`{"rows":[{"input":${'['.repeat(10_000)}`, 'REQUEST_TOO_DEEP'],
    [`{"rows":[{"id":${'{"a":'.repeat(10_000)}`, 'REQUEST_TOO_DEEP'],
    [Buffer.from('{"rows":[{"id":"\xff"}]}', 'latin1'), 'REQUEST_NOT_UTF8'],
    [Buffer.from('{"rows":[]}', 'utf16le'), 'REQUEST_NOT_JSON'],
  ])('%s', (body, code) => {
    expect(failure(body).code).toBe(code)
  })

  test('no rows are fine, and so are whitespace, a byte order mark and a bare array', () => {
    expect(prepare('{"rows":[]}').ids).toEqual([])
    expect(prepare('\ufeff { "rows" : [ ] } \n').ids).toEqual([])
    expect(prepare(JSON.stringify([{ ...logs, id: 'a' }])).ids).toEqual(['a'])
    expect(prepare(JSON.stringify({ other: [1], rows: [{ ...logs, id: 'a' }] })).ids).toEqual(['a'])
  })
})

describe('attachments that rows name', () => {
  const named = (key: string) => ({ type: 'braintrust_attachment', key })
  const attachmentsOf = (rows: readonly object[]) =>
    prepareTogether([
      { body: Buffer.from(JSON.stringify({ rows })), options: { form: 'logs3', nowMs } },
    ]).attachments

  test('are told by object, however their row is written', () => {
    const large = 'x'.repeat(2 ** 20)
    const rows = [
      { ...logs, id: '1', span_id: 's', input: named('usual') },
      { ...logs, id: '2', output: [{ file: named('in a list') }], _is_merge: true, error: null },
      { dataset_id: 'D', id: '3', output: named('under another name') },
      { ...logs, inputs: { large, file: named('large') } },
      { ...logs, comment: named('comment'), origin: { id: '1' } },
      {
        ...logs,
        id: '4',
        input: { type: 'braintrust_attachment' },
        output: 'braintrust_attachment',
      },
      { ...logs, id: '1', _object_delete: true, input: named('deleted') },
    ]
    expect(attachmentsOf(rows)).toEqual([
      [
        {
          object: { type: 'project_logs', id: 'P' },
          keys: ['usual', 'in a list', 'large', 'comment'],
        },
        { object: { type: 'dataset', id: 'D' }, keys: ['under another name'] },
      ],
    ])
  })

  test('are told of each request by itself', () => {
    const request = (key: string) => ({
      body: Buffer.from(JSON.stringify({ rows: [{ ...logs, id: key, input: named(key) }] })),
      options: { form: 'logs3', nowMs } as const,
    })
    const wrong = { ...request('wrong'), body: Buffer.from('{"rows":[7]}') }
    const { attachments, errors } = prepareTogether([request('a'), wrong, request('b')])
    expect(attachments.map((of) => of.map(({ keys }) => keys))).toEqual([[['a']], [['b']]])
    expect(errors.map((error) => error?.code)).toEqual([undefined, 'REQUEST_INVALID', undefined])
  })
})
