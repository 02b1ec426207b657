import { fileFault } from '../storage/directory/file-fault.ts'
import { checkReach, openDirectory } from '../storage/directory/open-directory.ts'
import type { DirectoryLock } from '../storage/directory-lock.ts'
import {
  closeSegments,
  openRecords,
  openSegments,
  type RecordsEnvironment,
  type SegmentsEnvironment,
} from '../storage/environment.ts'
import { reclaimSegmentSpace } from '../storage/maintenance/reclaim-space.ts'
import { RecordReader } from '../storage/read/record-reader.ts'
import { SegmentStore } from '../storage/segment/segment-store.ts'

/** A data directory that this process has, with its environments open for writing. */
export class OpenedData {
  readonly directory: string
  readonly records: RecordsEnvironment
  readonly segments: SegmentsEnvironment
  readonly #lock: DirectoryLock

  private constructor(directory: string, lock: DirectoryLock) {
    this.directory = directory
    this.#lock = lock
    this.records = openRecords(directory, { readOnly: false })
    this.segments = openSegments(directory, { readOnly: false })
  }

  /** Throws what `openDirectory` does, and STORAGE_CORRUPT when segments have later records than there are. */
  static async open(directory: string, note: (message: string) => void): Promise<OpenedData> {
    const lock = await openDirectory(directory, note)
    let opened: OpenedData | undefined
    try {
      await reclaimSegmentSpace(directory)
      opened = new OpenedData(directory, lock)
      const { flushedThrough } = new SegmentStore(opened.segments).manifest()
      checkReach(directory, new RecordReader(opened.records).lastTransaction(), flushedThrough)
      return opened
    } catch (thrown) {
      await (opened ? opened.close() : lock.release())
      throw fileFault(thrown, `cannot use the data directory ${directory}`) ?? thrown
    }
  }

  /** All that reads or writes it must have ended. */
  async close(): Promise<void> {
    await this.records.root.close()
    await closeSegments(this.segments)
    await this.#lock.release()
  }
}
