/**
 * Where residuals begin, in a list that is never long: of an object with more names than it has room for, the object
 * itself is listed, so that what is beside it is still known to be in no residual.
 */

/** Paths that are listed, at most. */
export const maximumResidualPaths = 1024

type ListedPath = readonly string[]

/** The same places in as few paths as may be listed: each is one of them, or below one of them. */
export function boundedResidualPaths(paths: Iterable<ListedPath>): readonly ListedPath[] {
  const listed = new Map<string, ListedPath>()
  for (const path of paths) listed.set(keyOf(path), path)
  dropCovered(listed)
  while (listed.size > maximumResidualPaths) {
    listFullest(listed)
    dropCovered(listed)
  }
  return [...listed.values()]
}

/** Lists paths in place of those right below them: first those with most, and as many as it takes, if that is enough. */
function listFullest(listed: Map<string, ListedPath>): void {
  const parents = new Map<string, { readonly path: ListedPath; readonly below: string[] }>()
  for (const [key, path] of listed) {
    const parent = path.slice(0, -1)
    const known = parents.get(keyOf(parent))
    if (known) known.below.push(key)
    else parents.set(keyOf(parent), { path: parent, below: [key] })
  }
  for (const { path, below } of [...parents.values()].sort(byFullness)) {
    if (listed.size <= maximumResidualPaths) return
    for (const key of below) listed.delete(key)
    listed.set(keyOf(path), path)
  }
}

function byFullness(a: { readonly below: string[] }, b: { readonly below: string[] }): number {
  return b.below.length - a.below.length
}

/** Those below others. */
function dropCovered(listed: Map<string, ListedPath>): void {
  for (const [key, path] of listed) {
    const isCovered = path.some((_, length) => listed.has(keyOf(path.slice(0, length))))
    if (isCovered) listed.delete(key)
  }
}

function keyOf(path: ListedPath): string {
  return JSON.stringify(path)
}
