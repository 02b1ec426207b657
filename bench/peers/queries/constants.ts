/** What a person puts into a query: each ask gets other constants, drawn from what the generator writes. */
import { Random } from '../../../src/demo/random.ts'
import { BatchReader, type DataFile } from '../generator/data-file.ts'
import { flagCount, models, plans, tags } from '../generator/span-writer.ts'
import { englishWords, rareWords } from '../generator/vocabulary.ts'

export interface Constants {
  /** Of a row, and of another one: its trace and time. */
  readonly id: string
  readonly trace: string
  /** Six hours around some row. */
  readonly from: string
  readonly to: string
  readonly model: string
  readonly otherModel: string
  readonly modelPart: string
  readonly environment: string
  readonly type: string
  readonly plan: string
  readonly tier: number
  readonly tag: string
  readonly otherTag: string
  readonly document: string
  readonly flag: string
  readonly isFlagged: boolean
  readonly priority: number
  readonly priorityText: string
  readonly level: number
  /** Seconds that about a tenth to a half of the calls take until their first token. */
  readonly seconds: number
  readonly longSeconds: number
  readonly score: number
  readonly tokens: number
  readonly bucket: number
  readonly weight: number
  readonly percentile: number
  readonly higherPercentile: number
  readonly limit: number
  readonly fewer: number
  /** What a number is called where a query has nothing else that people would choose. */
  readonly alias: string
  readonly commonWord: string
  readonly usualWord: string
  readonly unusualWord: string
  readonly thousandthWord: string
  readonly rareWord: string
  readonly singleWord: string
  readonly rareHan: string
  /** Minutes behind UTC of the person's clock, where what they ask with tells it. */
  readonly tzOffset: number
}

/** Draws constants of the data; the same for each ask in every run. */
export class ConstantSource {
  readonly #rows: readonly Row[]

  constructor(data: DataFile) {
    this.#rows = sampleRows(data)
  }

  /** @param ask which ask of the query it is, from 0 */
  draw(queryName: string, ask: number, tzOffset: number): Constants {
    const random = new Random(hashOf(`${queryName} ${ask}`))
    const middle = Date.parse(random.pick(this.#rows).created)
    const [model, otherModel] = pair(random, modelNames)
    const [tag, otherTag] = pair(random, tags)
    const hundredths = (low: number, high: number) => random.between(low * 100, high * 100) / 100
    return {
      id: random.pick(this.#rows).id,
      trace: random.pick(this.#rows).root_span_id,
      from: new Date(middle - halfRangeMs).toISOString(),
      to: new Date(middle + halfRangeMs).toISOString(),
      model,
      otherModel,
      modelPart: random.pick(modelParts),
      environment: random.pick(environments),
      type: random.pick(['llm', 'llm', 'tool', 'task']),
      plan: random.pick(plans),
      tier: random.between(1, 5),
      tag,
      otherTag,
      document: `kb/${random.between(1, 4000)}`,
      flag: `flag_${random.below(flagCount)}`,
      isFlagged: random.chance(0.5),
      priority: random.between(1, 4),
      priorityText: random.pick(['low', 'high', '2']),
      level: random.between(1, 3),
      seconds: hundredths(0.2, 1),
      longSeconds: hundredths(1.2, 2),
      score: hundredths(0.1, 0.6),
      tokens: random.between(50, 1200),
      bucket: 25 * random.between(4, 40),
      weight: hundredths(0.1, 0.9),
      percentile: hundredths(0.3, 0.6),
      higherPercentile: random.between(850, 999) / 1000,
      limit: random.between(80, 120),
      fewer: random.between(10, 50),
      alias: random.pick(aliases),
      commonWord: random.pick(commonWords),
      usualWord: random.pick(usualWords),
      unusualWord: random.pick(unusualWords),
      thousandthWord: random.pick(rareWords.thousandth).text,
      rareWord: random.pick(rareWords.rare).text,
      singleWord: random.pick(rareWords.single).text,
      rareHan: random.pick(rareWords.han).text,
      tzOffset,
    }
  }
}

const halfRangeMs = 3 * 3_600_000
const modelNames = models.map(({ name }) => name)
const modelParts = ['MINI', 'gpt', 'Claude', 'haiku', 'FLASH', '70b', 'large', 'qwen', 'o-m', '2.5']
const environments = ['production', 'staging', 'development']
const aliases = [
  'n',
  'total',
  'spans',
  'amount',
  'found',
  'calls',
  'records',
  'span_count',
  'logged',
  'x',
]
const commonWords = englishWords(3, 40)
const usualWords = englishWords(40, 160)
const unusualWords = englishWords(2000, 3000)

interface Row {
  readonly id: string
  readonly root_span_id: string
  readonly created: string
}

const sampledBatches = 100
const rowsOfBatch = 20

/** Rows from all over the data. */
function sampleRows(data: DataFile): Row[] {
  const reader = new BatchReader(data)
  const random = new Random(data.seed)
  const batches = Array.from({ length: sampledBatches }, () => random.below(reader.count))
  const rows = batches.flatMap((batch) => {
    const lines = reader.lines(batch).toString().trimEnd().split('\n')
    return Array.from({ length: rowsOfBatch }, () => JSON.parse(random.pick(lines)) as Row)
  })
  reader.close()
  return rows.map(({ id, root_span_id, created }) => ({ id, root_span_id, created }))
}

function pair<Item>(random: Random, items: readonly Item[]): [Item, Item] {
  const first = random.below(items.length)
  const second = (first + random.between(1, items.length - 1)) % items.length
  return [items[first]!, items[second]!]
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash
}
