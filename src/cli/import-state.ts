/** Remembers how far an import has come, so that it can go on from there. */
import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { AssayError } from '../error.ts'
import { writeDurablySync } from '../storage/durable-file.ts'

/** What has been imported. */
export interface ImportTotal {
  readonly rows: number
  readonly badLines: number
  readonly checksum: string
}

/** All before it has been imported. */
export interface ImportPlace extends ImportTotal {
  /** Which of the sources, from 0. */
  readonly source: number
  /** In that source, as it tells them; undefined for its beginning. */
  readonly position?: string
}

type Places = Record<string, ImportPlace>

export class ImportState {
  readonly #path: string
  readonly #key: string
  #isReadOnly = false

  /** @param names what tells this import from others */
  constructor(path: string, names: readonly string[]) {
    this.#path = path
    this.#key = createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 32)
  }

  read(): ImportPlace | undefined {
    return this.#places()[this.#key]
  }

  /**
   * Undefined when the import has come to its end. Where the file cannot be written, that is told once,
   * and the import goes on without it.
   */
  write(place: ImportPlace | undefined): void {
    if (this.#isReadOnly) return
    const { [this.#key]: _, ...others } = this.#places()
    const places: Places = place === undefined ? others : { ...others, [this.#key]: place }
    try {
      this.#store(places)
    } catch (error) {
      this.#isReadOnly = true
      process.stderr.write(
        `${this.#path} cannot be written, so that a new run would begin at the start; ` +
          `another file can be given with --state: ${(error as Error).message}\n`,
      )
    }
  }

  #store(places: Places): void {
    if (Object.keys(places).length === 0) {
      rmSync(this.#path, { force: true })
      return
    }
    writeDurablySync(this.#path, JSON.stringify(places))
  }

  #places(): Places {
    let text: string
    try {
      text = readFileSync(this.#path, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
      throw error
    }
    try {
      const places = JSON.parse(text) as Places | null
      if (typeof places === 'object' && places !== null) return places
    } catch {
      // As what is no state.
    }
    throw new AssayError('COMMAND_FAILED', `${this.#path} is no state of an import`, {
      hint: 'delete it, and the import begins at the start, or name another file with --state',
    })
  }
}
