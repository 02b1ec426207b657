import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shred } from '../../src/storage/shred/shred.ts'
import { parseJson } from '../../src/type/parse-json.ts'
import { Timestamp, type Value } from '../../src/type/value.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import type { ColumnSet } from '../../src/vector/column.ts'
import { elementsOf } from '../../src/vector/elements.ts'
import { isSet, pathReader, stored, textAt } from '../../src/vector/read-column.ts'
import { expectRows, rowTexts } from '../support/arbitrary-row-text.ts'
import { versionedRow } from '../support/versioned-row.ts'

/** Rows of JSON text, one transaction each. */
function shredTexts(texts: readonly string[], options = {}) {
  return shred(
    texts.map((text, i) => versionedRow(text, { version: { transaction: 1000 + i, index: 0 } })),
    options,
  )
}

function allPaths(set: ColumnSet): string[] {
  return set.pathsBelow([]).map((path) => JSON.stringify(path))
}

describe('shred', () => {
  it('makes one column per path and type', () => {
    const set = shredTexts([
      '{"id":"a","metrics":{"tokens":12},"is_root":true,"input":"x","tags":["p"]}',
      '{"id":"b","metrics":{"tokens":0.5},"is_root":false,"input":7,"tags":[]}',
    ])
    expect(set.rowCount).toBe(2)
    expect(set.columns(['metrics', 'tokens'])).toEqual({
      number: { values: elementsOf(Float64Array.of(12, 0.5)), validity: undefined },
    })
    expect(set.columns(['is_root'])).toEqual({
      boolean: { bits: Uint8Array.of(1), validity: undefined },
    })
    expect(set.columns(['metrics'])).toEqual({ objects: Uint8Array.of(3) })
    const input = set.columns(['input'])!
    expect(Object.keys(input)).toEqual(['number', 'text'])
    expect(input.number).toEqual({
      values: elementsOf(Float64Array.of(NaN, 7)),
      validity: Uint8Array.of(2),
    })
    expect(textAt(input.text!, 0)).toBe('x')
    expect(textAt(input.text!, 1)).toBeUndefined()
    expect(textAt(set.columns(['tags'])!.json!, 0)).toBe('["p"]')
    expect(set.residual).toBeUndefined()
    expect(set.residualMayHold(['metrics'])).toBe(false)
  })

  it('reads created as a time', () => {
    const set = shredTexts(['{"created":"2024-01-02T03:04:05.678Z"}'])
    expect(set.columns(['created'])!.timestamp!.values.at(0)).toBe(
      Date.UTC(2024, 0, 2, 3, 4, 5, 678),
    )
    expect(valueAtRow(set, ['created'], 0)).toEqual(
      new Timestamp(Date.UTC(2024, 0, 2, 3, 4, 5, 678)),
    )
  })

  it('orders rows by object, pagination key and version', () => {
    const row = (object: number, pagination: number, transaction: number) =>
      versionedRow(`{"id":"${object}/${pagination}/${transaction}"}`, {
        object,
        pagination: { transaction: pagination, index: 0 },
        version: { transaction, index: 0 },
      })
    const set = shred([row(2, 5, 5), row(1, 7, 9), row(1, 6, 10), row(1, 7, 7)])
    const ids = [0, 1, 2, 3].map((i) => valueAtRow(set, ['id'], i))
    expect(ids).toEqual(['1/6/10', '1/7/7', '1/7/9', '2/5/5'])
    expect(set.keys.object).toEqual(Int32Array.of(1, 1, 1, 2))
    expect(set.keys.paginationTransaction).toEqual(Float64Array.of(6, 7, 7, 5))
    expect(set.keys.shownTransaction).toBeUndefined()
  })

  it('keeps the transaction that is shown where it differs from that of the key', () => {
    const set = shred([
      versionedRow('{}', { version: { transaction: 11, index: 0 }, shownTransaction: 10 }),
    ])
    expect(set.keys.shownTransaction).toEqual(Float64Array.of(10))
  })

  it('encodes few distinct texts as a dictionary and many as they are', () => {
    const set = shredTexts(
      Array.from({ length: 100 }, (_, i) => `{"model":"m${i % 3}","id":"row ${i}"}`),
    )
    const model = set.columns(['model'])!.text!
    expect(model.encoding).toBe('dictionary')
    expect(set.columns(['id'])!.text!.encoding).toBe('plain')
    expect(textAt(model, 5)).toBe('m2')
    expect(textAt(set.columns(['id'])!.text!, 99)).toBe('row 99')
  })

  it('gives up a dictionary halfway without losing a text', () => {
    const texts = Array.from({ length: 3000 }, (_, i) =>
      i % 7 === 0 ? '{}' : `{"v":"${i < 2000 ? i % 5 : `${'x'.repeat(150)}${i}`}"}`,
    )
    const set = shredTexts(texts)
    const read = pathReader(set, ['v'])
    for (let i = 0; i < texts.length; i++) {
      expect(read(i)).toBe((JSON.parse(texts[i]!) as { v?: string }).v ?? null)
    }
  })

  it('leaves rare paths to the residual, and common ones of a small object not', () => {
    const texts = Array.from({ length: 4000 }, (_, i) =>
      i === 17 ? '{"id":"r","rare":{"a":1}}' : '{"id":"r"}',
    )
    const rows = texts.map((text, i) =>
      versionedRow(text, { object: 1, version: { transaction: 1000 + i, index: 0 } }),
    )
    for (let i = 0; i < 64; i++) {
      const version = { transaction: 9000 + i, index: 0 }
      rows.push(versionedRow('{"id":"s","own":true}', { object: 2, version }))
    }
    const set = shred(rows)
    expect(allPaths(set)).toEqual(['["id"]', '["own"]'])
    expect(set.residualMayHold(['rare'])).toBe(true)
    expect(set.residualMayHold(['rare', 'a', 'b'])).toBe(true)
    expect(set.residualMayHold(['rarely'])).toBe(false)
    expect(textAt(set.residual!, 17)).toBe('{"rare":{"a":1}}')
    expect(valueAtRow(set, ['rare', 'a'], 17)).toBe(1)
    expect(valueAtRow(set, ['rare'], 18)).toBe(null)
  })

  it('gives back objects of few members as one for all rows that have it, and no other', () => {
    const given = [
      '{"a":1}',
      '{"a":"1"}',
      '{"a":null}',
      '{}',
      '{"a":1,"b":true}',
      '{"b":true}',
      '{"a":[1]}',
      '{"a":1}',
      `{"a":"${'x'.repeat(100)}"}`,
      '{"b":true,"a":1}',
    ]
    const set = shredTexts(given.map((text) => `{"m":${text}}`))
    const read = pathReader(set, ['m'])
    const objects = given.map((_, row) => read(row) as Value)
    expect(objects.map(canonicalJson)).toEqual(given.map((text) => canonicalJson(parseJson(text))))
    expect(objects[7]).toBe(objects[0])
    expect(objects[9]).toBe(objects[4])
  })

  it('keeps apart objects of which one has a member in the residual', () => {
    const texts = Array.from({ length: 4000 }, (_, i) =>
      i === 17 ? '{"id":"r","m":{"a":1,"rare":"\\u0061"}}' : '{"id":"r","m":{"a":1}}',
    )
    const set = shredTexts(texts)
    expect(set.residualMayHold(['m', 'rare'])).toBe(true)
    const read = pathReader(set, ['m'])
    expect(canonicalJson(read(17) as Value)).toBe('{"a":1,"rare":"a"}')
    expect(canonicalJson(read(18) as Value)).toBe('{"a":1}')
    expect(read(19)).toBe(read(16))
  })

  it('bounds the columns of rows whose keys never repeat', () => {
    const texts = Array.from({ length: 300 }, (_, i) => {
      const members = Array.from({ length: 100 }, (_, k) => `"k${i}-${k}":${k}`)
      return `{"id":"${i}","m":{${members.join()}},"late":${i}}`
    })
    const set = shredTexts(texts)
    expect(set.pathsBelow([]).length).toBeLessThanOrEqual(256)
    expect(set.columns(['late'])).toBeDefined()
    // Of an object with so many names, all of it counts as being in residuals, and nothing beside it.
    expect(set.residualPaths).toEqual([['m']])
    expect(set.residualMayHold(['m', 'anything'])).toBe(true)
    expect(set.residualMayHold(['anything'])).toBe(false)
    const read = pathReader(set, [])
    expect(canonicalJson(read(299) as Value)).toBe(canonicalJson(parseJson(texts[299]!)))
  })

  it('leaves what is too long to the row store', () => {
    const long = 'x'.repeat(200)
    const set = shredTexts(
      [
        `{"id":"0","input":"${long}","m":{"a":1,"b":"${long}"}}`,
        '{"id":"1","input":"short","m":{"a":2,"b":"c"}}',
        `{"id":"2","input":["${long}"],"m":{"a":3}}`,
      ],
      { maximumValueBytes: 100 },
    )
    expect(isSet(set.columns(['input'])!.stored!, 0)).toBe(true)
    expect(valueAtRow(set, ['input'], 0)).toBe(stored)
    expect(valueAtRow(set, ['input'], 1)).toBe('short')
    expect(valueAtRow(set, ['input'], 2)).toBe(stored)
    expect(valueAtRow(set, ['m', 'a'], 0)).toBe(1)
    expect(valueAtRow(set, ['m', 'b'], 0)).toBe(stored)
    expect(valueAtRow(set, ['m'], 0)).toBe(stored)
    expect(valueAtRow(set, ['input', 'deeper'], 0)).toBe(stored)
  })

  it('leaves a field whose residual is too long, and a row that has no column for it', () => {
    const texts = Array.from({ length: 1000 }, (_, i) => `{"id":"${i}","m":{"a":${i}}}`)
    texts[3] = `{"id":"3","m":{"a":3,"odd":"${'x'.repeat(200)}"}}`
    texts[5] = `{"id":"5","m":{"a":5},"odd":"${'x'.repeat(200)}"}`
    const set = shredTexts(texts, { maximumValueBytes: 100 })
    expect(valueAtRow(set, ['m', 'a'], 3)).toBe(stored)
    expect(isSet(set.columns(['m', 'a'])!.number!.validity!, 3)).toBe(false)
    expect(valueAtRow(set, ['id'], 3)).toBe('3')
    expect(valueAtRow(set, ['id'], 5)).toBe(stored)
    expect(isSet(set.columns([])!.stored!, 5)).toBe(true)
    expect(isSet(set.columns(['id'])!.text!.validity!, 5)).toBe(false)
    expect(valueAtRow(set, ['m', 'a'], 6)).toBe(6)
  })

  it('leaves a field that names a key twice to the row store', () => {
    const set = shredTexts(['{"id":"0","m":{"a":1,"b":{"c":1},"a":"x"}}', '{"id":"1","m":{"a":2}}'])
    expect(valueAtRow(set, ['m', 'a'], 0)).toBe(stored)
    expect(valueAtRow(set, ['m'], 1)).toEqual({ a: 2 })
    expect(valueAtRow(set, ['id'], 0)).toBe('0')
  })

  it('shreds only the fields that are asked for', () => {
    const set = shredTexts(['{"id":"0","input":{"q":1},"output":"x","a\\nb":3}'], {
      fields: new Set(['input', 'a\nb', 'missing']),
    })
    expect(allPaths(set).sort()).toEqual(['["a\\nb"]', '["input","q"]', '["input"]'])
    expect(valueAtRow(set, ['a\nb'], 0)).toBe(3)
  })

  it('takes no key for a step of the path', () => {
    const set = shredTexts(['{"a.b":1,"a":{"b":2},"__proto__":{"toString":3},"":{"":4}}'])
    expect(valueAtRow(set, ['a.b'], 0)).toBe(1)
    expect(valueAtRow(set, ['a', 'b'], 0)).toBe(2)
    expect(valueAtRow(set, ['__proto__', 'toString'], 0)).toBe(3)
    expect(valueAtRow(set, ['__proto__', 'valueOf'], 0)).toBe(null)
    expect(valueAtRow(set, ['constructor'], 0)).toBe(null)
    expect(valueAtRow(set, ['', ''], 0)).toBe(4)
  })

  it('stops at a depth and keeps what is deeper as JSON', () => {
    const text = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`
    const set = shredTexts([text])
    expect(Math.max(...set.pathsBelow([]).map((path) => path.length))).toBe(16)
    expect(valueAtRow(set, Array(40).fill('a'), 0)).toBe(1)
    expect(canonicalJson(valueAtRow(set, [], 0) as Value)).toBe(text)
  })

  it('gives an empty set for no rows', () => {
    const set = shred([])
    expect(set.rowCount).toBe(0)
    expect(set.pathsBelow([])).toEqual([])
  })

  it('loses nothing, whatever the rows are', () => {
    fc.assert(
      fc.property(rowTexts(), fc.constantFrom(30, 2 ** 20), (texts, maximumValueBytes) => {
        const set = shredTexts(texts, { maximumValueBytes })
        expectRows(set, texts, maximumValueBytes === 30)
      }),
      { numRuns: 150 },
    )
  })
})

function valueAtRow(set: ColumnSet, path: readonly string[], row: number) {
  return pathReader(set, path)(row)
}
