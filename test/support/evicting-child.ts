/** Takes bodies out of a data directory, step by step, until it is done or killed. */
import { openRecords, openSegments } from '../../src/storage/environment.ts'
import { evictRows, evictSegments } from '../../src/storage/maintenance/evict-rows.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'

const directory = process.argv[2]!
const records = openRecords(directory, { readOnly: false })
const store = new SegmentStore(openSegments(directory, { readOnly: false }))
process.stdout.write('begun\n')
while (evictSegments(records, store, defaultLimits));
while (!evictRows(records, store));
process.stdout.write('done\n')
