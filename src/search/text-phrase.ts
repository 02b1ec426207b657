/** Texts in a certain field: `output contains refund`, `"not sure" in the output`. */
import { printPath, printString } from '../parser/print.ts'
import { isFiller } from './filler.ts'
import type { Context, Meaning, PhraseReader, Recognized } from './phrase.ts'
import { likeText } from './value-phrase.ts'
import type { VocabularyField } from './vocabulary.ts'

type Condition = Extract<Meaning, { kind: 'condition' }>

/** Names of fields of text that every source may have. */
const textFields: Readonly<Record<string, string>> = {
  input: 'input',
  inputs: 'input',
  question: 'input',
  questions: 'input',
  prompt: 'input',
  prompts: 'input',
  output: 'output',
  outputs: 'output',
  answer: 'output',
  answers: 'output',
  response: 'output',
  responses: 'output',
  completion: 'output',
  expected: 'expected',
  error: 'error',
  errors: 'error',
  'error message': 'error',
  'error messages': 'error',
  metadata: 'metadata',
}

const has = [
  ...[
    'that contains',
    'that contain',
    'which contains',
    'which contain',
    'that mentions',
    'that mention',
  ],
  ...[
    'contains the word',
    'contains',
    'containing',
    'contain',
    'mentions',
    'mentioning',
    'mention',
    'includes',
  ],
  ...[
    'including',
    'include',
    'like',
    'matches',
    'matching',
    'says',
    'saying',
    'has the word',
    'with the word',
  ],
  ...[
    'about',
    'talks about',
    'talking about',
    'starts with',
    'starting with',
    'begins with',
    'beginning with',
  ],
  ...['ends with', 'ending with'],
]

const lacks = [
  ...[
    'does not contain',
    "doesn't contain",
    'do not contain',
    "don't contain",
    'not containing',
    'without the word',
  ],
  ...[
    'does not mention',
    "doesn't mention",
    'not mentioning',
    'does not include',
    "doesn't include",
    'not like',
  ],
]

export function recognizeText(reader: PhraseReader, context: Context): Recognized | undefined {
  const meaning =
    reader.attempt(() => fieldThenText(reader, context)) ??
    reader.attempt(() => textThenField(reader, context))
  return meaning && reader.means(meaning)
}

function fieldThenText(reader: PhraseReader, context: Context): Condition | undefined {
  reader.take('whose', 'where', 'with', 'in')
  reader.take('the', 'an', 'a')
  const path = takeField(reader, context)
  if (!path) return undefined
  const isNegated = reader.take(...lacks) !== undefined
  const verb = isNegated ? undefined : reader.take(...has)
  if (!isNegated && !verb) return undefined
  const text = takeText(reader, context)
  return text === undefined ? undefined : containing(path, text, isNegated, placeOf(verb))
}

/** `"not sure" in the output`, `refund in output`. */
function textThenField(reader: PhraseReader, context: Context): Condition | undefined {
  const isNegated = reader.take('without') !== undefined
  const word = reader.peek()
  if (!word || (word.kind !== 'phrase' && (word.kind !== 'text' || isFiller(word.plain))))
    return undefined
  reader.at++
  if (!reader.take('in the', 'in its', 'in their', 'in')) return undefined
  const path = takeField(reader, context)
  return path && containing(path, word.text, isNegated, 'anywhere')
}

function takeField(reader: PhraseReader, { vocabulary }: Context): readonly string[] | undefined {
  const field = reader.takeRun(vocabulary.longestName, (words): readonly string[] | undefined => {
    if (Object.hasOwn(textFields, words)) return [textFields[words]!]
    return vocabulary.named(words).find(isSearchable)?.path
  })
  if (field) reader.take('text', 'field', 'message', 'messages')
  return field
}

function isSearchable({ isNumeric, isBoolean }: VocabularyField): boolean {
  return !isNumeric && !isBoolean
}

/** What was quoted, or the words up to the next that mean something else. */
function takeText(reader: PhraseReader, context: Context): string | undefined {
  reader.take('the word', 'the words', 'the phrase', 'the text')
  const first = reader.peek()
  if (first?.kind === 'phrase') {
    reader.at++
    return first.text
  }
  const words: string[] = []
  for (let word = reader.peek(); word?.kind === 'text' && words.length < 8; word = reader.peek()) {
    if (words.length > 0 && (isFiller(word.plain) || context.begins(reader.at))) break
    words.push(word.text)
    reader.at++
  }
  return words.length === 0 ? undefined : words.join(' ')
}

type Place = 'anywhere' | 'start' | 'end'

function placeOf(verb: string | undefined): Place {
  if (!verb) return 'anywhere'
  if (/^(start|begin)/.test(verb)) return 'start'
  return verb.startsWith('end') ? 'end' : 'anywhere'
}

function containing(
  path: readonly string[],
  text: string,
  isNegated: boolean,
  place: Place,
): Condition {
  const field = printPath(path)
  const before = place === 'start' ? '' : '%'
  const after = place === 'end' ? '' : '%'
  const pattern = printString(`${before}${likeText(text)}${after}`)
  const yes = `${field} ilike ${pattern}`
  // "errors not containing x" are errors.
  const without = field === 'error' ? 'is not null and' : 'is null or'
  const no = `(${field} ${without} ${field} not ilike ${pattern})`
  const verb = { anywhere: 'contains', start: 'begins with', end: 'ends with' }[place]
  return {
    kind: 'condition',
    text: isNegated ? no : yes,
    negated: isNegated ? yes : no,
    told: `${field} ${isNegated ? 'does not contain' : verb} "${text}"`,
  }
}
