/** Remembers how far an import from another service has come, so that it can go on from there. */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { AssayError } from '../error.ts'

export interface ImportPlace {
  readonly cursor: string
  /** Of the pages before it. */
  readonly rows: number
  readonly checksum: string
}

type Places = Record<string, ImportPlace>

export class ImportState {
  readonly #path: string
  readonly #key: string

  /** @param names what tells this import from others */
  constructor(path: string, names: readonly string[]) {
    this.#path = path
    this.#key = createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 32)
  }

  read(): ImportPlace | undefined {
    return this.#places()[this.#key]
  }

  /** Undefined when the import has come to its end. */
  write(place: ImportPlace | undefined): void {
    const { [this.#key]: _, ...others } = this.#places()
    const places: Places = place === undefined ? others : { ...others, [this.#key]: place }
    if (Object.keys(places).length === 0) {
      rmSync(this.#path, { force: true })
      return
    }
    const temporary = `${this.#path}.part`
    writeFileSync(temporary, JSON.stringify(places))
    renameSync(temporary, this.#path)
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
      return JSON.parse(text) as Places
    } catch {
      throw new AssayError('COMMAND_FAILED', `${this.#path} is no state of an import`)
    }
  }
}
