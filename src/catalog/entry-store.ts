/** Catalog entries in LMDB: `<kind>/<id>` → JSON. */
import type { RecordsEnvironment } from '../storage/environment.ts'
import type {
  ApiKey,
  Dataset,
  Experiment,
  Organization,
  Project,
  PromptSession,
  User,
} from './entry.ts'

/** An entry that holds records, with the number that stands for it in row keys. */
export interface Numbered<Entry> {
  readonly number: number
  readonly entry: Entry
}

export interface EntryKinds {
  organization: Organization
  user: User
  api_key: ApiKey
  project: Numbered<Project>
  experiment: Numbered<Experiment>
  dataset: Numbered<Dataset>
  prompt_session: Numbered<PromptSession>
}

export type EntryKind = keyof EntryKinds

/** The last number given, kept apart from the entries so that no number returns with a purge. */
const lastNumberKey = Buffer.from('last_number')

export class EntryStore {
  readonly #records: RecordsEnvironment

  constructor(records: RecordsEnvironment) {
    this.#records = records
  }

  *entries<Kind extends EntryKind>(kind: Kind): Generator<EntryKinds[Kind]> {
    // '0' is the character after '/': the range is everything that starts with `<kind>/`.
    const range = { start: Buffer.from(`${kind}/`), end: Buffer.from(`${kind}0`) }
    for (const { value } of this.#records.catalog.getRange(range)) {
      yield JSON.parse(value.toString()) as EntryKinds[Kind]
    }
  }

  lastNumber(): number {
    const value = this.#records.catalog.get(lastNumberKey)
    return value === undefined ? 0 : Number(value.toString())
  }

  /** Resolves once the entry is on disk. */
  async put<Kind extends EntryKind>(kind: Kind, id: string, entry: EntryKinds[Kind]) {
    const { root, catalog } = this.#records
    await root.transaction(() => {
      catalog.put(Buffer.from(`${kind}/${id}`), Buffer.from(JSON.stringify(entry)))
      if ('number' in entry) catalog.put(lastNumberKey, Buffer.from(String(entry.number)))
    })
  }
}
