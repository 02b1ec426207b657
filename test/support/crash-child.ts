/**
 * Writes records until it is killed: `node crash-child.ts DIRECTORY RUN`. It tells on standard
 * output, one line each, what it began (`begin NUMBER ROWS`) and what was acknowledged (`done NUMBER
 * TRANSACTION`), and flushes, packs, folds, compacts and
 * gives back what is free all the while, changes the catalog (`change NUMBER`) and stores files (`file NUMBER`).
 */
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ContentStore, contentName } from '../../src/attachment/content-store.ts'
import { RecordWriterThread } from '../../src/scheduler/insert/record-writer-thread.ts'
import { FreshRows } from '../../src/scheduler/maintenance/fresh-rows.ts'
import { openRecords, openSegments } from '../../src/storage/environment.ts'
import { compact } from '../../src/storage/maintenance/compaction.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { foldIds, removeUnlistedRuns } from '../../src/storage/maintenance/fold-ids.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { trimFiles } from '../../src/storage/maintenance/trim-files.ts'
import { MemtableBuilder } from '../../src/storage/prepare/memtable.ts'
import { type PrepareOptions, prepareTogether } from '../../src/storage/prepare/prepare.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { writeCatalogBatch } from '../../src/storage/write/catalog-batch.ts'
import { changeKey, fileBytes, filePlace } from './crash-names.ts'
import { crashRows } from './crash-rows.ts'

const [directory, run] = process.argv.slice(2) as [string, string]
const limits = { rows: 500, rowBytes: 1 << 20 }
const writersAtOnce = 6

const records = openRecords(directory, { readOnly: false })
const store = new SegmentStore(openSegments(directory, { readOnly: false }))
const thread = new RecordWriterThread(directory)
const maker = new MemtableBuilder(2)
const fresh = new FreshRows()
let next = 0
// Where a trace of what is written is kept, what was told is a part of it.
const output = process.env.IO_SHIM_MARKS ? openSync(process.env.IO_SHIM_MARKS, 'a') : 1

/** Every third time, requests are written as small ones are that come at the same time. */
async function writeForever(): Promise<never> {
  for (;;) {
    const numbers = Array.from({ length: next % 3 === 0 ? 4 : 1 }, () => next++)
    const requests = numbers.map((number) => {
      const rows = crashRows(run, number)
      tell(`begin ${number} ${rows.length}`)
      const options: PrepareOptions = {
        form: 'logs3',
        nowMs: Date.now(),
        ...(number % 2 === 1 && { blockLimits: { bytes: 4000, worthwhileBytes: 0 } }),
      }
      return { body: Buffer.from(JSON.stringify(rows)), options }
    })
    const { rows } = prepareTogether(requests)
    const parts = maker.make(rows)
    const written = await thread.write({ rows, objectNumbers: [1] })
    fresh.add(written, parts, [1])
    numbers.forEach((number, i) => {
      tell(`done ${number} ${written.transactions[i]}`)
    })
  }
}

async function flushForever(): Promise<never> {
  for (;;) {
    await sleep(Math.random() * 20)
    const { segments, flushedThrough } = flush(records, store, limits, fresh.take())
    fresh.flushed(flushedThrough)
    packRows(records, flushedThrough)
    while (foldIds(records, { recentIds: 40, fanIn: 2 }));
    if (segments.length > 6)
      compact(
        records,
        store,
        segments.map(({ id }) => id),
        { limits },
      )
    tell('trim')
    trimFiles(store.environment, 1)
  }
}

async function changeForever(): Promise<never> {
  const files = new ContentStore(join(directory, 'content'))
  for (let number = 0; ; number++) {
    await sleep(Math.random() * 10)
    writeCatalogBatch(records, {
      puts: [[changeKey(run, number), Buffer.from(String(number))]],
      removals: [`test/none.${number}`],
    })
    tell(`change ${number}`)
    const place = filePlace(run, number)
    await files.announce(place, { filename: 'f', contentType: 'text/plain', userId: null })
    await files.write(contentName(place), fileBytes(run, number))
    tell(`file ${number}`)
  }
}

/** Blocks until the line is in the pipe: what was told before a kill is not lost. */
function tell(line: string): void {
  writeSync(output, `${line}\n`)
}

removeUnlistedRuns(records)
fresh.restore(new RecordReader(records).log(store.manifest().flushedThrough))
void flushForever()
void changeForever()
for (let i = 0; i < writersAtOnce; i++) void writeForever()
