import type { FieldPath } from './field-shapes.ts'

/** Objects whose fields are kept in memory. */
const keptObjects = 1024

/** What fields the rows of objects have, read once until a write says that there are more. */
export class KnownFields {
  readonly #read: (object: number) => readonly FieldPath[]
  readonly #paths = new Map<number, readonly FieldPath[]>()
  #version = 0

  constructor(read: (object: number) => readonly FieldPath[]) {
    this.#read = read
  }

  /** Rises when the fields of any object change. */
  get version(): number {
    return this.#version
  }

  /** As `RecordReader.fieldPaths` gives them. */
  paths(object: number): readonly FieldPath[] {
    const paths = this.#paths.get(object) ?? this.#read(object)
    // What was asked for last is the last to go.
    this.#paths.delete(object)
    this.#paths.set(object, paths)
    if (this.#paths.size > keptObjects) {
      const [oldest] = this.#paths.keys()
      this.#paths.delete(oldest!)
    }
    return paths
  }

  /** To be called once the rows are on disk. */
  changed(objects: readonly number[]): void {
    for (const object of objects) this.#paths.delete(object)
    if (objects.length > 0) this.#version++
  }
}
