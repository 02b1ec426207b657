/** How much of the file of segments is free: LMDB never gives back what values were in, but keeps it for others. */
import type { BinaryDatabase, SegmentsEnvironment } from '../environment.ts'

export interface FileSpace {
  readonly freeBytes: number
  readonly allBytes: number
}

/** Parts of what LMDB tells that the package has no types for. */
interface TreePages {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface RootPages extends TreePages {
  readonly lastPageNumber: number
  readonly free: TreePages
}

export function spaceOf({ root, ...databases }: SegmentsEnvironment): FileSpace {
  const { free, lastPageNumber, ...names } = root.getStats() as RootPages
  const trees = Object.values<BinaryDatabase>(databases).map(
    (database) => database.getStats() as TreePages,
  )
  const used = [names, free, ...trees].reduce((sum, tree) => {
    return sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages
  }, 0)
  const { pageSize } = names
  return { freeBytes: (lastPageNumber + 1 - used) * pageSize, allBytes: lastPageNumber * pageSize }
}
