/**
 * Words of made-up languages in real scripts, numbered by how often they are used: rank r occurs
 * about as often as 1/r says (Zipf's law). A few ranks have words that queries ask for.
 */
import { Random } from '../../../src/demo/random.ts'

/** Words one after another as UTF-8; word `rank` ends where the next begins. */
export interface WordBytes {
  readonly bytes: Uint8Array
  readonly begin: Uint32Array
}

export interface Script {
  readonly code: string
  readonly wordCount: number
  /** By rank, the most frequent first, each after a blank if the script has blanks. */
  readonly words: WordBytes
  /** The same words as they begin a sentence. */
  readonly capitalized: WordBytes
  readonly blank: string
  readonly stop: string
}

/** Words at fixed ranks, so that it is known how common they are. Rows have about 60 words. */
const placed: Readonly<Record<number, string>> = {
  7: 'refund',
  60: 'invoice',
  2500: 'warranty',
}

/** A word that every so-manieth row has in its output, and no other row has anywhere. */
export interface RareWord {
  readonly text: string
  readonly period: number
  readonly offset: number
  /** Whether it stands between blanks, in scripts without them too. */
  readonly isWord: boolean
}

const seed = 715

interface Parts {
  readonly onsets: readonly string[]
  readonly vowels: readonly string[]
  readonly codas: readonly string[]
}

const parts = (onsets: string, vowels: string, codas: string): Parts => ({
  onsets: onsets.split(' '),
  vowels: vowels.split(' '),
  // Most syllables end open.
  codas: ['', '', ...codas.split(' ')],
})

// No x, no z and no q: words with those are rare words or nothing.
const latin = parts(
  'b c d f g h k l m n p r s t v w br cl dr pl st tr sh',
  'a e i o u ai ou',
  'n r s t l nd',
)
const german = parts(
  'b d f g h k l m n p r s t w sch st br',
  'a e i o u ä ö ü ei au',
  'n r s t l ch ß',
)
const spanish = parts('b c d f g l m n ñ p r s t v j ll', 'a e i o u á é í ó', 'n r s l')
const russian = parts('б в г д ж з к л м н п р с т ч ш', 'а е и о у я ю ы', 'н р с т л й')
const arabic = parts('ب ت ج ح د ر س ش ع ف ق ك ل م ن ه', 'ا و ي', 'ت ن ر ة')
const hindi = parts('क ख ग च ज ट त द न प ब म य र ल स ह', 'ा ि ी ु े ो', 'न र ल त')

function spoken(random: Random, { onsets, vowels, codas }: Parts, count: number): string[] {
  const words = new Set<string>()
  while (words.size < count) {
    // The more frequent a word, the shorter.
    const syllables = random.between(1, Math.ceil(Math.min(3, Math.log10(words.size + 2))))
    let word = ''
    for (let i = 0; i < syllables; i++) word += random.pick(onsets) + random.pick(vowels)
    word += random.pick(codas)
    words.add(word)
  }
  return [...words]
}

/** Words of one to three characters out of the first `count` of a block. */
function drawn(random: Random, first: number, count: number, words: number): string[] {
  const made = new Set<string>()
  while (made.size < words) {
    const length = random.between(1, 3)
    let word = ''
    for (let i = 0; i < length; i++) word += String.fromCodePoint(first + random.below(count))
    made.add(word)
  }
  return [...made]
}

function packed(words: readonly string[]): WordBytes {
  const begin = new Uint32Array(words.length + 1)
  for (const [i, word] of words.entries()) begin[i + 1] = begin[i]! + Buffer.byteLength(word)
  return { bytes: Buffer.from(words.join('')), begin }
}

function capital(word: string): string {
  const [head = '', ...tail] = word
  return head.toUpperCase() + tail.join('')
}

function script(
  code: string,
  words: string[],
  marks: { blank?: string; stop?: string } = {},
): Script {
  const { blank = ' ', stop = '.' } = marks
  return {
    code,
    wordCount: words.length,
    words: packed(words.map((word) => blank + word)),
    capitalized: packed(words.map(capital)),
    blank,
    stop,
  }
}

/**
 * Words as rare as each other, the first of them known by name. All that are made have eight letters, so that none
 * is a part of another, with a z and an x, which no other words have.
 */
function rareFamily(first: RareWord, count: number, form = (word: string) => word): RareWord[] {
  const random = new Random(seed + first.period)
  const texts = new Set([first.text])
  while (texts.size < count) {
    const syllable = () => random.pick(rareVowels) + random.pick(rareCodas)
    texts.add(form(`z${syllable()}x${syllable()}${syllable()}`))
  }
  return [...texts].map((text, i) => {
    return { ...first, text, offset: (first.offset + i * rareStep) % first.period }
  })
}

const rareVowels = ['a', 'e', 'i', 'o', 'u']
const rareCodas = ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v']
/** Prime, so that the words of a family stand in rows of their own. */
const rareStep = 7919

/** Pairs of characters that no text has but for these. */
function hanFamily(first: RareWord, count: number): RareWord[] {
  return Array.from({ length: count }, (_, i) => {
    const text =
      i === 0 ? first.text : String.fromCodePoint(0x9e00 + 3 * i, 0x9d00 + 7 * i, 0x9c00 + 11 * i)
    return { ...first, text, offset: (first.offset + i * rareStep) % first.period }
  })
}

/** Many of each kind: who asks for one has not asked for another before. */
export const rareWords = {
  thousandth: rareFamily(
    { text: 'Quixotry', period: 1000, offset: 377, isWord: true },
    30,
    capital,
  ),
  rare: rareFamily({ text: 'zugzwang', period: 50_000, offset: 12_345, isWord: true }, 60),
  single: rareFamily({ text: 'syzygy', period: 1_000_000, offset: 54_321, isWord: true }, 120),
  han: hanFamily({ text: '龘靐齉', period: 20_000, offset: 9_999, isWord: false }, 20),
} as const satisfies Record<string, readonly RareWord[]>

function makeScripts(): { english: Script; others: Script[] } {
  const random = new Random(seed)
  const words = spoken(random, latin, 20_000)
  for (const [rank, word] of Object.entries(placed)) words[Number(rank)] = word
  const english = script('en', words)
  const unspaced = { blank: '', stop: '。' }
  const han = drawn(random, 0x4e00, 1800, 4000)
  const japanese = [...drawn(random, 0x3042, 80, 1500), ...drawn(random, 0x4e00, 900, 1500)]
  const mixed = japanese.map((_, i) => japanese[(i * 1571) % japanese.length]!)
  const pictures = ['🙏', '📦', '😤', '✅', '🚚', '🎉', '🤖', '👩‍💻']
  const informal = words.slice(0, 3000).map((word, i) => (i % 12 === 5 ? pictures[i % 8]! : word))
  const others = [
    script('de', spoken(random, german, 4000)),
    script('es', spoken(random, spanish, 4000)),
    script('ru', spoken(random, russian, 4000)),
    script('zh', han, unspaced),
    script('ja', mixed, unspaced),
    script('ar', spoken(random, arabic, 3000), { stop: '؟' }),
    script('hi', spoken(random, hindi, 3000), { stop: '।' }),
    script('emoji', informal, { stop: '!' }),
  ]
  return { english, others }
}

const scripts = makeScripts()

/** English words of ranks from `low` to below `high` that are a part of no word of other languages, and of no key. */
export function englishWords(low: number, high: number): string[] {
  const others = scripts.others.filter(({ code }) => code !== 'emoji').map(wordsOf)
  const known = ['hits document relevance text status', ...others]
  const words = wordsOf(scripts.english).split(' ').slice(1)
  return words
    .slice(low, high)
    .filter((word) => word.length >= 4 && !known.some((text) => text.includes(word)))
}

function wordsOf({ words }: Script): string {
  return Buffer.from(words.bytes).toString()
}

/** Four conversations out of five are in English. */
export function pickScript(random: Random): Script {
  return random.chance(0.8) ? scripts.english : random.pick(scripts.others)
}

const rankBits = 18
const rankTables = new Map<number, Uint16Array>()

/** A rank with a share of about 1/rank: the logarithm of ranks is evenly distributed. */
export function pickRank(random: Random, count: number): number {
  let ranks = rankTables.get(count)
  if (!ranks) {
    const size = 1 << rankBits
    const step = Math.log(count + 1) / size
    ranks = Uint16Array.from({ length: size }, (_, i) => Math.floor(Math.exp((i + 0.5) * step)) - 1)
    rankTables.set(count, ranks)
  }
  return ranks[random.nextWord() >>> (32 - rankBits)]!
}
