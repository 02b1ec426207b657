/**
 * Things kept by path. Keys are compared part by part, so that `["a.b"]` and `["a", "b"]` differ and
 * no key, `__proto__` included, means anything by itself.
 */
export class PathTree<T> {
  readonly #root: Node<T> = { path: [], value: undefined, children: new Map() }

  get(path: readonly string[]): T | undefined {
    return this.#find(path)?.value
  }

  set(path: readonly string[], value: T): void {
    let node = this.#root
    for (let depth = 0; depth < path.length; depth++) {
      const key = path[depth]!
      let child = node.children.get(key)
      if (child === undefined) {
        child = { path: path.slice(0, depth + 1), value: undefined, children: new Map() }
        node.children.set(key, child)
      }
      node = child
    }
    node.value = value
  }

  /** Paths strictly below `path` that hold something; a path comes before what is below it. */
  below(path: readonly string[]): readonly (readonly string[])[] {
    const found: (readonly string[])[] = []
    const start = this.#find(path)
    if (start !== undefined) collectBelow(start, found)
    return found
  }

  /** Whether something is kept at `path`, at a prefix of it, or below it. */
  touches(path: readonly string[]): boolean {
    const node = this.#reach(path)
    return node !== undefined && (node.value !== undefined || node.children.size > 0)
  }

  /** Whether something is kept at `path`, or at a prefix of it. */
  leadsTo(path: readonly string[]): boolean {
    return this.#reach(path)?.value !== undefined
  }

  /** The first node on the path at which something is kept, or else that at its end. */
  #reach(path: readonly string[]): Node<T> | undefined {
    let node: Node<T> | undefined = this.#root
    for (const key of path) {
      if (node === undefined || node.value !== undefined) break
      node = node.children.get(key)
    }
    return node
  }

  #find(path: readonly string[]): Node<T> | undefined {
    let node: Node<T> | undefined = this.#root
    for (const key of path) {
      node = node.children.get(key)
      if (node === undefined) return undefined
    }
    return node
  }
}

interface Node<T> {
  readonly path: readonly string[]
  value: T | undefined
  readonly children: Map<string, Node<T>>
}

function collectBelow<T>(node: Node<T>, found: (readonly string[])[]): void {
  for (const child of node.children.values()) {
    if (child.value !== undefined) found.push(child.path)
    collectBelow(child, found)
  }
}
