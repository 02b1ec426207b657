/** Fields that the records of one object have, besides the columns of its type. */
export class KnownFields {
  /** Names of top-level fields. */
  readonly extra: readonly string[]
  readonly nestedPaths: readonly (readonly string[])[]
  readonly #byLastName = new Map<string, (readonly string[])[]>()

  /** @param paths of top-level fields and of nested ones */
  constructor(paths: Iterable<readonly string[]>) {
    const extra: string[] = []
    const nestedPaths: (readonly string[])[] = []
    for (const path of paths) {
      const last = path.at(-1)
      if (last === undefined) continue
      if (path.length === 1) {
        extra.push(last)
        continue
      }
      nestedPaths.push(path)
      const same = this.#byLastName.get(last)
      if (same) same.push(path)
      else this.#byLastName.set(last, [path])
    }
    this.extra = extra
    this.nestedPaths = nestedPaths
  }

  /** Nested fields whose last name this is. */
  nested(name: string): readonly (readonly string[])[] {
    return this.#byLastName.get(name) ?? []
  }
}
