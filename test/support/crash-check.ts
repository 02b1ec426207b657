/** Checks what is left of the work of `crash-child.ts`: all that was acknowledged, and nothing by halves. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { contentName } from '../../src/attachment/content-store.ts'
import type { RecordsEnvironment } from '../../src/storage/environment.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import type { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import type { RowKey } from '../../src/type/transaction.ts'
import { changeKey, fileBytes, filePlace } from './crash-names.ts'
import { crashRows, recordId } from './crash-rows.ts'

/** What a child said before it ended. */
export interface Run {
  readonly name: string
  readonly begun: ReadonlySet<number>
  /** Transactions of the acknowledged requests. */
  readonly done: ReadonlyMap<number, number>
  /** Numbers of acknowledged changes of the catalog, and of files. */
  readonly changes: readonly number[]
  readonly files: readonly number[]
}

/** @param told whole lines, as the child has written them */
export function parseRun(name: string, told: string): Run {
  const begun = new Set<number>()
  const done = new Map<number, number>()
  const changes: number[] = []
  const files: number[] = []
  // The line that the end cut off, if any, was never told.
  for (const line of told.split('\n').slice(0, -1)) {
    const [event, number, value] = line.split(' ')
    if (event === 'begin') begun.add(Number(number))
    else if (event === 'done') done.set(Number(number), Number(value))
    else if (event === 'change') changes.push(Number(number))
    else if (event === 'file') files.push(Number(number))
  }
  return { name, begun, done, changes, files }
}

/** Checks what a run left: all of each acknowledged request, all or nothing of the others. */
export function checkRun(records: RecordsEnvironment, run: Run): void {
  const { name, begun, done, changes } = run
  const reader = new RecordReader(records)
  const shared = JSON.parse(
    reader.latest(1, 'shared')?.view.fieldText('metadata') ?? '{}',
  ) as object
  for (const number of begun) {
    const rows = crashRows(name, number).slice(0, -1)
    const found = rows.map((_, i) => reader.latest(1, recordId(name, number, i)))
    const isThere = found[0] !== undefined
    expect(isThere || !done.has(number), `request ${number} of run ${name} is lost`).toBe(true)
    expect(Object.hasOwn(shared, `${name}.${number}`)).toBe(isThere)
    found.forEach((version, i) => {
      expect(version !== undefined, `row ${i} of request ${number} of run ${name}`).toBe(isThere)
      if (!version) return
      expect(JSON.parse(version.view.fieldText('input')!)).toBe(rows[i]!.input)
      if (done.has(number)) expect(version.view.transaction).toBe(done.get(number))
    })
  }
  const kept = changes.map((number) => {
    return records.catalog.get(Buffer.from(changeKey(name, number)))?.toString()
  })
  expect(kept).toEqual(changes.map(String))
}

export function checkFiles(directory: string, { name, files }: Run): void {
  for (const number of files) {
    const stored = contentName(filePlace(name, number))
    const path = join(directory, 'content', stored.slice(0, 2), stored)
    expect(readFileSync(path).equals(fileBytes(name, number)), `file ${number}`).toBe(true)
    expect(JSON.parse(readFileSync(`${path}.json`, 'utf8'))).toMatchObject({ status: 'done' })
  }
}

/** Checks that the segments hold exactly the row versions that they should. */
export function checkSegments(records: RecordsEnvironment, store: SegmentStore): number {
  const { flushedThrough, segments } = store.manifest()
  const name = (key: RowKey) => `${key.transaction}/${key.index}`
  const reader = new RecordReader(records)
  const stored = Array.from(reader.readDelta(1, 0, flushedThrough), ({ key }) => name(key))
  const inSegments: string[] = []
  for (const { id } of segments) {
    const { keys, rowCount } = store.open(id)
    for (let row = 0; row < rowCount; row++) {
      inSegments.push(name({ transaction: keys.transaction[row]!, index: keys.index[row]! }))
    }
  }
  expect(inSegments.sort()).toEqual(stored.sort())
  return segments.length
}
