/** What the records of a source are made of: the names and values that words are looked up in. */
import { samePath } from '../type/value.ts'
import { plain, readWords } from './words.ts'

export interface VocabularyField {
  readonly path: readonly string[]
  readonly isNumeric: boolean
  readonly isText: boolean
  readonly isBoolean: boolean
  /** Whether rows can be told apart by it: it has values, not only parts. */
  readonly isValue: boolean
  /** How many of the described rows have it. */
  readonly count: number
}

export interface KnownValue {
  readonly field: VocabularyField
  readonly value: string
  readonly count: number
}

/** A row of `infer`. */
export interface InferredField {
  readonly path: readonly string[]
  readonly types: Readonly<Record<string, number>>
  readonly count: number
  readonly top_values: readonly { readonly value: unknown; readonly count: number }[] | null
}

/** Names of a person that uses an application: one stands for another where that is not there. */
const people = ['user', 'customer', 'client', 'account']

/** Names that mean the same wherever they occur in a field's last name. */
const alike: readonly (readonly string[])[] = [
  ['env', 'environment'],
  ['lang', 'language', 'locale'],
  ['org', 'organization', 'organisation'],
  ['temp', 'temperature'],
]

/** Fields that say what a row is rather than what it is about: no words of a search name them. */
const unnamedFields = new Set([
  'id',
  'span_id',
  'root_span_id',
  'span_parents',
  '_pagination_key',
  '_xact_id',
  'project_id',
  'experiment_id',
  'dataset_id',
  'org_id',
  'log_id',
  'is_root',
  'created',
])

/** Texts that people write in sentences are not looked up as values. */
const proseFields = new Set(['input', 'output', 'expected', 'error', 'context', 'comments', 'tags'])

export class Vocabulary {
  readonly fields: readonly VocabularyField[]
  /** Fields by what they may be called, as plain words with one space between them. */
  readonly #byName = new Map<string, VocabularyField[]>()
  readonly #byValue = new Map<string, KnownValue[]>()
  /** Without what is between letters and digits: `gpt4o` is `gpt-4o`. */
  readonly #byCompact = new Map<string, KnownValue[]>()
  /** How many rows have a field that has values. */
  readonly #byPath = new Map<string, number>()
  readonly #longestName: number = 1
  readonly #longestValue: number = 1

  constructor(inferred: readonly InferredField[]) {
    const fields: VocabularyField[] = []
    for (const { path, types, count, top_values } of inferred) {
      const counted = (type: string) => types[type] ?? 0
      const field = {
        path,
        count,
        isNumeric: counted('number') > 0 && counted('number') >= counted('string'),
        isText: counted('string') > 0 && counted('string') >= counted('number'),
        isValue: counted('string') + counted('number') + counted('boolean') > 0,
        isBoolean: counted('boolean') > 0 && counted('string') + counted('number') === 0,
      }
      fields.push(field)
      if (field.isValue) this.#byPath.set(path.join('\n'), count)
      if (unnamedFields.has(path[0]!)) continue
      for (const name of namesOf(path)) {
        this.#longestName = Math.max(this.#longestName, wordCount(name))
        add(this.#byName, name, field)
      }
      if (proseFields.has(path[0]!)) continue
      for (const { value, count: times } of top_values ?? []) {
        if (typeof value !== 'string' || value.length > 80) continue
        const words = this.#addValue({ field, value, count: times })
        this.#longestValue = Math.max(this.#longestValue, words)
      }
    }
    this.fields = fields
    // Shallow fields are meant before deep ones, and frequent ones before rare ones.
    for (const list of this.#byName.values()) {
      list.sort((a, b) => a.path.length - b.path.length || b.count - a.count)
    }
    for (const list of this.#byValue.values()) list.sort((a, b) => b.count - a.count)
  }

  /** Adds a value by what it may be called; returns how many words it has, 0 when it is not added. */
  #addValue(known: KnownValue): number {
    const { field, value } = known
    const words = readWords(value).map((word) => word.plain)
    if (words.length === 0 || words.length > 6) return 0
    add(this.#byValue, words.join(' '), known)
    const compact = compacted(words.join(''))
    if (compact.length >= 4) add(this.#byCompact, compact, known)
    const spoken = (isLanguage(field.path) && languageOf(value)) || shortNames.get(value)
    if (spoken) add(this.#byValue, spoken, known)
    return words.length
  }

  get longestName(): number {
    return this.#longestName
  }

  get longestValue(): number {
    return this.#longestValue
  }

  /** Fields that the words name, the likeliest first. */
  named(words: string): readonly VocabularyField[] {
    const found = this.#byName.get(words) ?? this.#byName.get(singular(words))
    if (found || !people.includes(singular(words))) return found ?? []
    return people.map((name) => this.#byName.get(name)).find((fields) => fields) ?? []
  }

  has(...path: readonly string[]): boolean {
    return this.fields.some((field) => samePath(field.path, path))
  }

  /** Values that the words are, the most frequent first. */
  values(words: string): readonly KnownValue[] {
    const found = this.#byValue.get(words)
    if (found) return found
    return /\d/.test(words) ? (this.#byCompact.get(compacted(words)) ?? []) : []
  }

  /** Texts that a field has, the most frequent first. */
  valuesOf(path: readonly string[]): readonly KnownValue[] {
    const found = new Map<string, KnownValue>()
    for (const known of [...this.#byValue.values()].flat()) {
      if (samePath(known.field.path, path)) found.set(known.value, known)
    }
    return [...found.values()].sort((a, b) => b.count - a.count)
  }

  /** How many of the described rows have a field that tells rows apart; 0 where it tells nothing. */
  useOf(path: readonly string[]): number {
    if (unnamedFields.has(path[0]!)) return 0
    return this.#byPath.get(path.join('\n')) ?? 0
  }

  /** Single words that name a field or are a value of one. */
  get knownWords(): string[] {
    return [...this.#byName.keys(), ...this.#byValue.keys()].filter((name) => !name.includes(' '))
  }

  /** Values whose words begin with these, as `claude sonnet` begins `claude-sonnet-4`. */
  valuesBeginning(words: string): readonly KnownValue[] {
    const wanted = parts(words)
    if (words.length < 3 || wanted === '') return []
    const found: KnownValue[] = []
    for (const [name, values] of this.#byValue) {
      if (`${parts(name)} `.startsWith(`${wanted} `)) found.push(...values)
    }
    return found
  }

  /** Models that have the word somewhere in their names, as `haiku` is in `claude-haiku-3.5`. */
  modelsNamed(word: string): readonly KnownValue[] {
    if (!/^\p{L}{3,}$/u.test(word)) return []
    return [...this.#byValue.values()]
      .flat()
      .filter(
        ({ field, value }) => isModel(field.path) && parts(plain(value)).split(' ').includes(word),
      )
  }

  /** Scores that records have, as paths. */
  get scores(): readonly VocabularyField[] {
    return this.fields.filter(({ path, isNumeric }) => {
      return path.length === 2 && path[0] === 'scores' && isNumeric
    })
  }
}

/** What people say for short. */
const shortNames: ReadonlyMap<string, string> = new Map([
  ['production', 'prod'],
  ['development', 'dev'],
  ['staging', 'stage'],
])

function compacted(words: string): string {
  return words.replace(/[^\p{L}\p{N}]/gu, '')
}

function isModel(path: readonly string[]): boolean {
  return splitName(path.at(-1)!).includes('model')
}

function isLanguage(path: readonly string[]): boolean {
  return splitName(path.at(-1)!).some((word) => /^(lang|language|locale)$/.test(word))
}

const languageNames = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/** `ja` is called Japanese. */
function languageOf(code: string): string | undefined {
  if (!/^[a-z]{2,3}([-_][A-Za-z]{2,4})?$/.test(code)) return undefined
  const name = languageNames.of(code.slice(0, /[-_]/.exec(code)?.index))
  return name === undefined || name.includes(' ') ? undefined : plain(name)
}

/** `metadata.user_id` may be called `user id`, `user_id`, `user` and `metadata.user_id`. */
function namesOf(path: readonly string[]): Set<string> {
  const names = new Set<string>([plain(path.join('.')), plain(path.join(' '))])
  const last = path.at(-1)!
  names.add(plain(last))
  const words = splitName(last)
  names.add(words.join(' '))
  if (words.length > 1 && (words.at(-1) === 'id' || words.at(-1) === 'name')) {
    names.add(words.slice(0, -1).join(' '))
  }
  // A name that says little, such as `name` of `metadata.user.name`, is known by what it belongs to.
  if (path.length > 2 && ['id', 'name', 'value', 'type'].includes(words.join(' '))) {
    names.add(splitName(path.at(-2)!).join(' '))
    names.add([...splitName(path.at(-2)!), ...words].join(' '))
  }
  for (const group of alike) {
    for (const name of [...names]) {
      if (group.includes(name)) for (const other of group) names.add(other)
    }
  }
  return names
}

function splitName(name: string): string[] {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[\s_.-]+/)
    .map(plain)
    .filter((word) => word !== '')
}

/** English plurals, as far as names of fields need them. */
export function singular(words: string): string {
  if (words.endsWith('ies')) return `${words.slice(0, -3)}y`
  if (/(ss|us|is)$/.test(words)) return words
  if (/(sh|ch|x|ses)es$/.test(words)) return words.slice(0, -2)
  return words.endsWith('s') ? words.slice(0, -1) : words
}

function parts(text: string): string {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
}

function wordCount(name: string): number {
  return name.split(' ').length
}

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
