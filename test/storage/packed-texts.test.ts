import assert from 'node:assert'
import { createHash } from 'node:crypto'
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openSegment } from '../../src/storage/segment/reader.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import { textAt } from '../../src/vector/read-column.ts'
import { versionedRow } from '../support/versioned-row.ts'

const rowCount = 9000

/** Digits that look random. */
function digits(row: number, count: number): string {
  return createHash('sha512').update(`${row}`).digest('hex').slice(0, count)
}

function uuid(row: number): string {
  return digits(row, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

type MakeText = (row: number) => string | undefined

/** The column as it was written, and as it is in a segment. */
function written(makeText: MakeText) {
  const rows = Array.from({ length: rowCount }, (_, row) =>
    versionedRow(JSON.stringify({ id: `r${row}`, key: makeText(row) }), {
      object: 1,
      version: { transaction: 1000, index: row },
    }),
  )
  const set = shred(rows)
  const { bytes, metadata } = writeSegment(set, 1)
  const inMemory = set.columns(['key'])!.text!
  const column = openSegment(bytes, metadata).columns(['key'])!.text!
  return { bytes, inMemory, column }
}

const forms: readonly (readonly [name: string, length: number, makeText: MakeText])[] = [
  ['UUIDs', 36, uuid],
  ['16 digits', 16, (row) => digits(row, 16)],
  ['64 digits', 64, (row) => digits(row, 64)],
  ['30 digits', 30, (row) => digits(row, 30)],
  ['UUIDs that some rows have', 36, (row) => (row % 3 === 1 ? undefined : uuid(row))],
  ['digits that some rows have', 32, (row) => (row % 5 === 0 ? undefined : digits(row, 32))],
]

describe.each(forms)('%s', (_, length, makeText) => {
  const { bytes, inMemory, column } = written(makeText)

  it('take half of their bytes, in a file that Arrow opens', () => {
    const arrow = tableFromIPC(bytes).getChild('key:text')!
    const width = length === 36 ? 16 : length / 2
    expect(String(arrow.type)).toBe(`FixedSizeBinary[${width}]`)
    for (const row of [0, 1, 2, 5, rowCount - 1]) {
      const packed = arrow.get(row) as Uint8Array | null
      const text = packed && Buffer.from(packed).toString('hex')
      expect(text ?? undefined).toBe(makeText(row)?.replaceAll('-', ''))
    }
  })

  it('come back to the byte, one by one and all together', () => {
    assert(column.encoding === 'compressed')
    let row = 0
    for (const { bytes: part, offsets } of column.texts.parts()) {
      for (let i = 1; i < offsets.length; i++, row++) {
        const text = makeText(row) ?? ''
        expect(part.toString('latin1', offsets[i - 1], offsets[i])).toBe(text)
        if (row % 97 > 3) continue
        expect(textAt(column, row)).toBe(makeText(row))
        expect(textAt(inMemory, row)).toBe(makeText(row))
        expect(column.texts.lengthAt(row)).toBe(text.length)
      }
    }
    expect(row).toBe(rowCount)
  })

  it('come back for any rows of a batch', () => {
    assert(column.encoding === 'compressed')
    const { texts } = column
    const selections = fc.option(
      fc.oneof(
        fc.uniqueArray(fc.nat(rowCount), { maxLength: 20 }),
        fc.nat(4).map((phase) => Array.from({ length: 1500 }, (_, i) => i * 5 + phase)),
      ),
    )
    fc.assert(
      fc.property(
        fc.nat(rowCount - 1),
        fc.nat(rowCount),
        selections,
        fc.nat(),
        (from, most, rows, seed) => {
          const count = Math.min(most, rowCount - from)
          const selected = rows?.filter((row) => row < count).sort((a, b) => a - b)
          const found = texts.between(from, count, selected && Int32Array.from(selected))
          expect(found.offsets.length).toBe(count + 1)
          const looked = selected ?? (count > 0 ? [0, seed % count, count - 1] : [])
          for (const row of looked) {
            const text = found.bytes.toString('latin1', found.offsets[row], found.offsets[row + 1])
            expect(text).toBe(makeText(from + row) ?? '')
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  it('rule out what none of them may have in it', () => {
    assert(column.encoding === 'compressed')
    const { mayHold } = column.texts
    assert(mayHold !== undefined)
    const holds = (part: string) => column.texts.mayHold!(part)
    expect(['0af', 'ABC', '', 'xyz', '0 a'].map(holds)).toEqual([true, true, true, false, false])
    expect(holds('-4')).toBe(length === 36)
  })
})

it.each<readonly [name: string, makeText: MakeText]>([
  ['in upper case', (row) => digits(row, 16).toUpperCase()],
  ['of which one has another length', (row) => digits(row, row === 4000 ? 18 : 16)],
  ['of which one has a letter', (row) => (row === 8999 ? 'g'.repeat(16) : digits(row, 16))],
  ['of which one is no UUID', (row) => (row === 77 ? digits(row, 36) : uuid(row))],
  ['of an odd length', (row) => digits(row, 17)],
  ['that few rows have', (row) => (row % 9 === 0 ? digits(row, 64) : undefined)],
])('digits %s are texts like others', (_, makeText) => {
  const { column } = written(makeText)
  expect(column.encoding).not.toBe('compressed')
  for (const row of [0, 1, 77, 4000, 8999]) expect(textAt(column, row)).toBe(makeText(row))
})
