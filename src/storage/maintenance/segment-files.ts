/** The files of environments, and how much of each is used. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BinaryDatabase,
  type RecordDatabase,
  type RecordsEnvironment,
  type SegmentsEnvironment,
  segmentFolders,
} from '../environment.ts'

export const fileName = 'data.mdb'

export interface EnvironmentFile {
  readonly folder: string
  readonly root: SegmentsEnvironment['root']
  readonly databases: readonly Pick<BinaryDatabase | RecordDatabase, 'getStats'>[]
}

export function segmentFiles({
  directory,
  root,
  columnsRoot,
  columns,
  ...others
}: SegmentsEnvironment): readonly EnvironmentFile[] {
  const [folder, columnsFolder] = segmentFolders(directory)
  return [
    { folder, root, databases: Object.values<BinaryDatabase>(others) },
    { folder: columnsFolder, root: columnsRoot, databases: [columns] },
  ]
}

export function recordsFile({
  directory,
  root,
  checkedSince: _,
  ...databases
}: RecordsEnvironment): EnvironmentFile {
  return { folder: join(directory, 'records'), root, databases: Object.values(databases) }
}

/** Parts of what LMDB tells that the package has no types for. */
interface TreePages {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface RootPages extends TreePages {
  readonly lastTxnId: number
  readonly free: TreePages
}

export interface FileSpace {
  readonly pageBytes: number
  /** Of the transaction that was committed last. */
  readonly transaction: number
  readonly usedBytes: number
  /** See `diskBytesOf`. */
  readonly diskBytes: number
}

export function spaceOf({ folder, root, databases }: EnvironmentFile): FileSpace {
  const { free, lastTxnId, ...names } = root.getStats() as RootPages
  const trees = databases.map((database) => database.getStats() as TreePages)
  const usedPages = [names, free, ...trees].reduce((sum, tree) => {
    return sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages
  }, 0)
  const { pageSize } = names
  return {
    pageBytes: pageSize,
    transaction: lastTxnId,
    usedBytes: usedPages * pageSize,
    diskBytes: diskBytesOf(folder),
  }
}

/** What the file of an environment takes on disk and is free for values to come. */
export function freeBytesOf(file: EnvironmentFile): number {
  const { diskBytes, usedBytes } = spaceOf(file)
  return Math.max(0, diskBytes - usedBytes)
}

/** What the file of an environment takes on disk: free stretches may be holes, which take nothing. */
export function diskBytesOf(folder: string): number {
  return statSync(join(folder, fileName)).blocks * 512
}
