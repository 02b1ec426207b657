/**
 * Where residuals begin, in a list that is never long: of an object with more names than it has room for, the object
 * itself is listed, so that what is beside it is still known to be in no residual.
 */
import { PathTree } from '../../vector/path-tree.ts'

/** Paths that are listed, at most. */
export const maximumResidualPaths = 1024

type ListedPath = readonly string[]

/** The same places in as few paths as may be listed: each is one of them, or below one of them. */
export function boundedResidualPaths(paths: readonly ListedPath[]): readonly ListedPath[] {
  let listed = withoutCovered(paths)
  while (listed.length > maximumResidualPaths) listed = withoutCovered(withFullest(listed))
  return listed
}

/** Without those that are below others, or again; the shorter ones first. */
function withoutCovered(paths: readonly ListedPath[]): readonly ListedPath[] {
  const tree = new PathTree<true>()
  const kept: ListedPath[] = []
  for (const path of [...paths].sort((a, b) => a.length - b.length)) {
    if (tree.leadsTo(path)) continue
    tree.set(path, true)
    kept.push(path)
  }
  return kept
}

/** With paths in place of those right below them: first those with most, and as many as it takes, if that is enough. */
function withFullest(listed: readonly ListedPath[]): readonly ListedPath[] {
  const tree = new PathTree<ListedPath[]>()
  const groups: { readonly parent: ListedPath; readonly below: ListedPath[] }[] = []
  for (const path of listed) {
    const parent = path.slice(0, -1)
    const known = tree.get(parent)
    if (known) {
      known.push(path)
      continue
    }
    const below = [path]
    tree.set(parent, below)
    groups.push({ parent, below })
  }
  const kept: ListedPath[] = []
  const parents: ListedPath[] = []
  let count = listed.length
  for (const { parent, below } of groups.sort((a, b) => b.below.length - a.below.length)) {
    if (count <= maximumResidualPaths) kept.push(...below)
    else {
      parents.push(parent)
      count -= below.length - 1
    }
  }
  return [...kept, ...parents]
}
