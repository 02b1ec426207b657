import assert from 'node:assert'
import { randomBytes } from 'node:crypto'
import { type Dictionary, tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { uncompressSync } from 'lz4-napi'
import { describe, expect, it } from 'vitest'
import { AssayError } from '../../src/error.ts'
import { columnName, mappedBytes } from '../../src/storage/segment/layout.ts'
import {
  type ColumnMetadata,
  decodeMetadata,
  encodeMetadata,
  type SegmentMetadata,
} from '../../src/storage/segment/metadata.ts'
import { openSegment } from '../../src/storage/segment/reader.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import type { ColumnSet, TextColumn } from '../../src/vector/column.ts'
import type { ColumnTable } from '../../src/vector/column-table.ts'
import type { Numbers } from '../../src/vector/elements.ts'
import { countSet, isSet, textAt } from '../../src/vector/read-column.ts'
import { versionedRow } from '../support/versioned-row.ts'

const mixed = [
  '{"id":"a","created":"2024-01-01T00:00:00Z","input":{"q":"é","n":1.5},"tags":["x"],"ok":true}',
  '{"id":"b","created":"2024-01-02T00:00:00Z","input":"text","tags":[],"ok":false,"big":9007199254740993}',
  '{"id":"c","created":"2023-01-02T00:00:00.5Z","input":{"q":null,"n":-2,"a.b":"\\ud800"},"ok":null}',
]

function table(texts: readonly string[], options = {}): ColumnTable {
  const rows = texts.map((text, i) =>
    versionedRow(text, { object: 1 + (i % 2), version: { transaction: 1000 + i, index: i } }),
  )
  return shred(rows, options)
}

/** Metadata as a reader gets it. */
function stored(metadata: SegmentMetadata): SegmentMetadata {
  return decodeMetadata(encodeMetadata(metadata), 1)
}

/** Everything that a set holds, as plain values that can be compared. */
function contents(set: ColumnSet) {
  const paths = [[], ...set.pathsBelow([])]
  const { keys } = set
  return {
    rowCount: set.rowCount,
    keys: {
      object: keys.object,
      paginationTransaction: keys.paginationTransaction,
      paginationIndex: keys.paginationIndex,
      transaction: keys.transaction,
      index: keys.index,
      shownTransaction: keys.shownTransaction,
    },
    columns: paths.map((path) => [path, plain(set.columns(path) ?? {}, set.rowCount)]),
    residual: set.residual && plain(set.residual, set.rowCount),
    mayHold: [['a'], ['rare'], ['rare', 'x']].map((path) => set.residualMayHold(path)),
  }
}

/** Buffers become bytes and -0 becomes 0, so that only values are compared; of columns, in whatever width. */
function plain(value: unknown, rowCount: number): unknown {
  if (value instanceof Uint8Array) return [...value]
  if (ArrayBuffer.isView(value)) return [...(value as Float64Array)].map((item) => item + 0)
  if (typeof value !== 'object' || value === null) return value
  if ('between' in value) return plain((value as Numbers).between(0, rowCount), rowCount)
  // That says which texts they are, and is no part of them.
  const parts = Object.entries(value).filter(([key]) => key !== 'identity')
  return Object.fromEntries(parts.map(([key, part]) => [key, plain(part, rowCount)]))
}

function codeOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof AssayError) return error.code
    throw error
  }
  return 'nothing thrown'
}

describe('segment', () => {
  it('reads back the columns that were written', () => {
    const set = table(mixed)
    const { bytes, metadata } = writeSegment(set, 123)
    const opened = openSegment(bytes, stored(metadata))
    expect(contents(opened)).toEqual(contents(set))
  })

  it('takes any path for one of a residual of which an older version did not list them', () => {
    const set = table(Array.from({ length: 4000 }, (_, i) => (i === 7 ? '{"rare":1}' : '{}')))
    const { bytes, metadata } = writeSegment(set, 1)
    expect(openSegment(bytes, stored(metadata)).residualMayHold(['other'])).toBe(false)
    const { residualPaths: _, ...older } = metadata
    expect(openSegment(bytes, stored(older)).residualMayHold(['other'])).toBe(true)
  })

  it('reads back columns of any rows', () => {
    const values = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(null, true, false, [], {}, [1, 'x'], { x: 1, y: 'z' }),
    )
    const row = fc.dictionary(fc.constantFrom('a', 'b', 'é', 'rare', '__proto__'), values)
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 40 }),
        fc.nat({ max: 120 }),
        fc.constantFrom(8, 2 ** 20),
        (rows, copies, maximumValueBytes) => {
          const texts = [...rows, ...Array(copies).fill(rows[0])].map((value) =>
            JSON.stringify(value),
          )
          const set = table(texts, { maximumValueBytes })
          const { bytes, metadata } = writeSegment(set, 1)
          expect(contents(openSegment(bytes, stored(metadata)))).toEqual(contents(set))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('is a file that Arrow opens and sees the same values in', () => {
    const texts = Array.from({ length: 100 }, (_, i) =>
      i % 10 === 0
        ? '{"id":"x"}'
        : `{"id":"r${i}","n":${i / 4},"model":"m${i % 3}","ok":${i > 50}}`,
    )
    texts[3] = '{"id":"r3","only here":{"x":1},"n":"text"}'
    const set = table([...texts, ...Array.from({ length: 100 }, (_, i) => `{"id":"y${i}"}`)])
    const arrow = tableFromIPC(writeSegment(set, 1).bytes)
    expect(arrow.numRows).toBe(200)
    expect(arrow.schema.fields.map((field) => `${field.name} ${field.type}`)).toEqual([
      'object Int32',
      'pagination.transaction Float64',
      'pagination.index Int32',
      'id:text Utf8',
      'model:text Dictionary<Int8, Utf8>',
      'n:number Int16',
      'n:text Dictionary<Int8, Utf8>',
      'ok:boolean Bool',
      '"only here":objects Bool',
      'residual Dictionary<Int8, Utf8>',
    ])
    const number = set.columns(['n'])!.number!
    const model = set.columns(['model'])!.text!
    const boolean = set.columns(['ok'])!.boolean!
    const scale = arrow.schema.fields[5]!.metadata
    const [base, divisor] = [Number(scale.get('base')), Number(scale.get('divisor'))]
    expect(divisor).toBe(100)
    for (let row = 0; row < 200; row++) {
      const value = number.values.at(row)
      const whole = arrow.getChild('n:number')!.get(row)
      expect(whole === null ? Number.NaN : (whole + base) / divisor).toBe(value)
      expect(arrow.getChild('model:text')!.get(row)).toBe(textAt(model, row) ?? null)
      expect(arrow.getChild('ok:boolean')!.get(row)).toBe(
        isSet(boolean.validity!, row) ? isSet(boolean.bits, row) : null,
      )
      expect(arrow.getChild('object')!.get(row)).toBe(set.keys.object[row])
      expect(arrow.getChild('residual')!.get(row)).toBe(textAt(set.residual!, row) ?? null)
    }
    expect((arrow.schema.fields[4]!.type as Dictionary).indices.toString()).toBe('Int8')
  })

  it('pads a large segment so that it is mapped', () => {
    const texts = Array.from({ length: 65_536 }, (_, i) => `{"n":${i}}`)
    const { bytes, metadata } = writeSegment(table(texts), 1)
    expect(bytes.byteLength).toBeGreaterThanOrEqual(mappedBytes)
    expect(bytes.byteLength).toBeLessThan(mappedBytes * 1.1)
    const opened = openSegment(bytes, metadata)
    expect(opened.keys.object.buffer).toBe(bytes.buffer)
    expect(tableFromIPC(bytes).numRows).toBe(65_536)
  })

  it('moves bytes that are not aligned', () => {
    const { bytes, metadata } = writeSegment(table(mixed), 1)
    const moved = new Uint8Array(bytes.length + 3).subarray(3)
    moved.set(bytes)
    expect(contents(openSegment(moved, metadata))).toEqual(contents(table(mixed)))
  })

  it('describes its rows and columns', () => {
    const { bytes, metadata } = writeSegment(table(mixed), 77)
    expect(metadata).toMatchObject({
      rowCount: 3,
      rowBytes: 77,
      byteLength: bytes.byteLength,
      firstTransaction: 1000,
      lastTransaction: 1002,
      objects: [
        {
          object: 1,
          from: 0,
          to: 2,
          firstPagination: { transaction: 1000, index: 0 },
          lastPagination: { transaction: 1002, index: 2 },
          firstTransaction: 1000,
          lastTransaction: 1002,
          firstCreated: Date.UTC(2023, 0, 2, 0, 0, 0, 500),
          lastCreated: Date.UTC(2024, 0, 1),
        },
        { object: 2, from: 2, to: 3, firstTransaction: 1001, lastTransaction: 1001 },
      ],
    })
    expect(findColumn(metadata, ['input', 'n'], 'number')).toMatchObject({
      nullCount: 1,
      minimum: -2,
      maximum: 1.5,
      granuleMinimums: [-2],
      granuleMaximums: [1.5],
      granuleCounts: [2],
      granuleSums: [-0.5],
    })
    expect(findColumn(metadata, ['ok'], 'boolean')).toMatchObject({ nullCount: 1, trueCount: 1 })
    expect(findColumn(metadata, ['id'], 'text')).toMatchObject({
      nullCount: 0,
      bounds: { minimum: 'a', maximum: 'c' },
    })
    expect(findColumn(metadata, ['input'], 'objects')).toMatchObject({ nullCount: 1 })
    expect(findColumn(metadata, ['input'], 'number')).toBeUndefined()
  })

  it('bounds granules of numbers, and those without any', () => {
    const texts = Array.from({ length: 20_000 }, (_, i) =>
      i >= 8192 && i < 16_384 ? '{"m":0}' : `{"n":${i}}`,
    )
    const rows = texts.map((text, i) =>
      versionedRow(text, { version: { transaction: 1 + i, index: 0 } }),
    )
    expect(findColumn(writeSegment(shred(rows), 1).metadata, ['n'], 'number')).toMatchObject({
      granuleMinimums: [0, null, 16_384],
      granuleMaximums: [8191, null, 19_999],
      granuleCounts: [8192, 0, 3616],
      granuleSums: [33_550_336, 0, 65_780_464],
    })
  })

  it('bounds long texts by short ones', () => {
    const long = (first: string, character: string) => `{"t":"${first}${character.repeat(100)}"}`
    const boundsOf = (texts: string[]) => {
      const column = findColumn(writeSegment(table(texts), 1).metadata, ['t'], 'text')
      return column?.type === 'text' ? column.bounds : undefined
    }
    expect(boundsOf([long('b', 'x'), long('a', 'é')])).toEqual({
      minimum: `a${'é'.repeat(31)}`,
      maximum: `b${'x'.repeat(62)}y`,
    })
    expect(boundsOf([long('', '\u{10ffff}')])).toEqual({ minimum: '\u{10ffff}'.repeat(16) })
    expect(boundsOf([long('', '\ud7ff')])!.maximum).toBe(`${'\ud7ff'.repeat(20)}\ue000`)
  })

  it('names columns so that none is taken for another', () => {
    expect(columnName(['metadata', 'model'], 'text')).toBe('metadata.model:text')
    expect(columnName(['a.b'], 'text')).toBe('"a.b":text')
    expect(columnName(['a', 'b:number'], 'text')).toBe('a."b:number":text')
    expect(columnName([], 'stored')).toBe(':stored')
  })

  it('reports bytes that are missing or damaged', () => {
    const { bytes, metadata } = writeSegment(table(mixed), 1)
    expect(codeOf(() => openSegment(bytes.subarray(0, -8), metadata))).toBe('STORAGE_CORRUPT')
    expect(codeOf(() => openSegment(new Uint8Array(0), metadata))).toBe('STORAGE_CORRUPT')
    const places: [offset: number, byteLength: number][] = []
    JSON.stringify(metadata, (_, value: unknown) => {
      if (Array.isArray(value) && value.length === 3 && value.every(Number.isInteger)) {
        places.push([value[0] as number, value[1] as number])
      }
      return value
    })
    for (const [offset, byteLength] of places.filter(([, length]) => length > 0)) {
      const damaged = bytes.slice()
      damaged[offset + byteLength - 1]! ^= 0x40
      const read = () => contents(openSegment(damaged, stored(metadata)))
      expect(codeOf(read)).toBe('STORAGE_CORRUPT')
    }
    expect(places.length).toBeGreaterThan(20)
  })

  it('reports metadata that is damaged', () => {
    const encoded = encodeMetadata(writeSegment(table(mixed), 1).metadata)
    for (let at = 0; at < encoded.length; at += 7) {
      const damaged = Buffer.from(encoded)
      damaged[at]! ^= 1
      expect(codeOf(() => decodeMetadata(damaged, 1))).toBe('STORAGE_CORRUPT')
      expect(codeOf(() => decodeMetadata(encoded.subarray(0, at), 1))).toBe('STORAGE_CORRUPT')
    }
  })

  it('keeps the encoding of texts', () => {
    const encodings = (set: ColumnSet) =>
      ['id', 'model'].map((name) => (set.columns([name])!.text as TextColumn).encoding)
    const set = table(Array.from({ length: 90 }, (_, i) => `{"id":"${i}","model":"${i % 2}"}`))
    const { bytes, metadata } = writeSegment(set, 1)
    expect(encodings(set)).toEqual(['plain', 'dictionary'])
    expect(encodings(openSegment(bytes, metadata))).toEqual(['plain', 'dictionary'])
  })

  describe('with long texts', () => {
    const rowCount = 9000
    /** Of some 300 bytes, which LZ4 makes a fifth of; some rows have none, one has a huge one. */
    const texts = Array.from({ length: rowCount }, (_, i) => {
      if (i === 4321) return 'x'.repeat(300_000)
      const words = Array.from({ length: 40 }, (_, word) => `word${(i * 31 + word * i) % 97}é`)
      return i % 10 === 7 ? undefined : `row ${i}: ${words.join(' ')}`
    })
    const set = table(
      texts.map((text, i) => JSON.stringify({ id: `r${i}`, output: text, list: text && [text] })),
    )
    const { bytes, metadata } = writeSegment(set, 1)
    const inMemory = set.columns(['output'])!.text!
    const open = () => openSegment(bytes, stored(metadata))
    const opened = open().columns(['output'])!.text!

    it('compresses them, and keeps what is short', () => {
      assert(inMemory.encoding === 'plain' && opened.encoding === 'compressed')
      expect(open().columns(['list'])!.json!.encoding).toBe('compressed')
      expect(open().columns(['id'])!.text!.encoding).toBe('plain')
      expect(bytes.length).toBeLessThan(inMemory.texts.offsets.at(-1)!)
    })

    it('keeps what hardly becomes smaller', () => {
      const random = table(
        Array.from({ length: 1000 }, () =>
          JSON.stringify({ output: randomBytes(150).toString('base64') }),
        ),
      )
      const written = writeSegment(random, 1)
      const column = openSegment(written.bytes, written.metadata).columns(['output'])!.text!
      expect(column.encoding).toBe('plain')
    })

    it('reads back any row, in any order', () => {
      const list = open().columns(['list'])!.json!
      for (let i = 0; i < rowCount; i++) {
        const row = (i * 7919) % rowCount
        expect(textAt(opened, row)).toBe(textAt(inMemory, row))
        expect(textAt(list, row)).toBe(textAt(set.columns(['list'])!.json!, row))
      }
    })

    it('reads back rows of a batch, of which the selected ones count', () => {
      assert(opened.encoding === 'compressed')
      const { texts: compressed } = opened
      fc.assert(
        fc.property(
          fc.nat(rowCount - 1),
          fc.nat(rowCount),
          fc.option(fc.uniqueArray(fc.nat(rowCount), { maxLength: 20 })),
          (from, most, rows) => {
            const count = Math.min(most, rowCount - from)
            const selected = rows?.filter((row) => row < count).sort((a, b) => a - b)
            const found = compressed.between(from, count, selected && Int32Array.from(selected))
            expect(found.offsets.length).toBe(count + 1)
            for (const row of selected ?? Array(count).keys()) {
              const text = found.bytes.toString('utf8', found.offsets[row], found.offsets[row + 1])
              expect(text).toBe(textAt(inMemory, from + row) ?? '')
            }
          },
        ),
        { numRuns: 60 },
      )
    })

    it('decompresses nothing but what the selected rows lie in', () => {
      assert(opened.encoding === 'compressed' && inMemory.encoding === 'plain')
      const few = opened.texts.between(0, 8192, Int32Array.of(5000))
      expect(few.bytes.length).toBeGreaterThan(0)
      expect(few.bytes.length).toBeLessThan(2 ** 18)
      expect(opened.texts.between(0, 8192, new Int32Array(0)).bytes.length).toBe(0)
    })

    it('is a file that Arrow opens, and LZ4 reads the texts of', () => {
      assert(inMemory.encoding === 'plain')
      const file = tableFromIPC(bytes)
      const column = file.getChild('output:text')!
      const ends = inMemory.texts.offsets.subarray(1)
      expect(String(column.type)).toBe('Int32')
      expect(column.nullCount).toBe(rowCount - countSet(inMemory.validity!))
      for (const row of [0, 8, 4321, rowCount - 1]) expect(column.get(row)).toBe(ends[row])
      const described = findColumn(metadata, ['output'], 'text')
      assert(described?.type === 'text' && described.encoding === 'compressed')
      const loose = Buffer.concat([...file.getChild('bytes')!])
      const first = bytes.byteLength - Buffer.from(bytes).lastIndexOf(loose.subarray(0, 4096))
      const [directory, blocks] = [described.directory, described.blocks].map(([offset]) =>
        loose.subarray(offset + first - bytes.byteLength),
      ) as [Buffer, Buffer]
      const { blocks: blockCount, rows, end } = firstOf(directory, rowCount)
      expect(blockCount).toBeGreaterThan(3)
      const { bytes: all, offsets } = inMemory.texts
      expect(uncompressSync(blocks.subarray(0, end))).toEqual(all.subarray(0, offsets[rows]))
    })

    it('counts ends within blocks, in two bytes, where no text is longer than one', () => {
      const shorter = table(
        texts.map((text) => JSON.stringify({ output: text?.slice(0, 2 ** 15) })),
      )
      const written = writeSegment(shorter, 1)
      const column = openSegment(written.bytes, written.metadata).columns(['output'])!.text!
      const written16 = tableFromIPC(written.bytes).getChild('output:text')!
      expect(String(written16.type)).toBe('Uint16')
      assert(column.encoding === 'compressed')
      const expected = shorter.columns(['output'])!.text!
      let row = 0
      for (const { bytes: part, offsets } of column.texts.parts()) {
        for (let i = 1; i < offsets.length; i++, row++) {
          const text = part.toString('utf8', offsets[i - 1], offsets[i])
          expect(text).toBe(textAt(expected, row) ?? '')
          expect(column.texts.lengthAt(row)).toBe(Buffer.byteLength(text))
        }
      }
      expect(row).toBe(rowCount)
      expect(textAt(column, 4321)).toBe(textAt(expected, 4321))
      const { bytes: few, offsets } = column.texts.between(4000, 1000, Int32Array.of(0, 321, 999))
      for (const at of [0, 321, 999]) {
        const text = few.toString('utf8', offsets[at], offsets[at + 1])
        expect(text).toBe(textAt(expected, 4000 + at) ?? '')
      }
    })

    it('reports a block that was damaged, and reads the others', () => {
      const column = findColumn(metadata, ['output'], 'text')
      assert(column?.type === 'text' && column.encoding === 'compressed')
      const [offset, byteLength] = column.blocks
      const damaged = bytes.slice()
      damaged[offset + byteLength - 1]! ^= 0x40
      const reopened = openSegment(damaged, stored(metadata), 17).columns(['output'])!.text!
      expect(textAt(reopened, 0)).toBe(texts[0])
      expect(() => textAt(reopened, rowCount - 1)).toThrow(/^segment 17 cannot be read/)
      expect(codeOf(() => textAt(reopened, rowCount - 1))).toBe('STORAGE_CORRUPT')
      assert(reopened.encoding === 'compressed')
      const { texts: compressed } = reopened
      expect(codeOf(() => [...compressed.parts()])).toBe('STORAGE_CORRUPT')
    })
  })
})

/** What a directory says: the last block's rows end with those of the segment. */
function firstOf(directory: Buffer, rowCount: number) {
  let blocks = 1
  while (directory.readInt32LE((blocks - 1) * 4) !== rowCount) blocks++
  return { blocks, rows: directory.readInt32LE(0), end: directory.readInt32LE(blocks * 4) }
}

/** The column of that path and type; undefined when no row has one. */
function findColumn(
  metadata: SegmentMetadata,
  path: readonly string[],
  type: ColumnMetadata['type'],
): ColumnMetadata | undefined {
  return metadata.columns.find(
    (column) =>
      column.type === type &&
      column.path.length === path.length &&
      column.path.every((key, i) => key === path[i]),
  )
}
