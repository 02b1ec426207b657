/** Fields and their values: `model gpt-4o`, `user is alice`, `production`, `without expected`. */
import { printPath, printString } from '../parser/print.ts'
import { samePath } from '../type/value.ts'
import { isFiller } from './filler.ts'
import type { Context, Meaning, PhraseReader, Recognized } from './phrase.ts'
import type { KnownValue, VocabularyField } from './vocabulary.ts'

type Condition = Extract<Meaning, { kind: 'condition' }>

export function recognizeValue(reader: PhraseReader, context: Context): Recognized | undefined {
  const meaning =
    reader.attempt(() => fieldThenValue(reader, context)) ??
    reader.attempt(() => valueAlone(reader, context)) ??
    reader.attempt(() => truth(reader, context)) ??
    reader.attempt(() => counted(reader, context)) ??
    reader.attempt(() => presence(reader, context))
  return meaning && reader.means(meaning)
}

/** `model is gpt-4o`, `user_id:u-17`, `user alice`, `environment not production`. */
function fieldThenValue(reader: PhraseReader, context: Context): Condition | undefined {
  const { vocabulary } = context
  reader.take('with', 'whose', 'where', 'by', 'for', 'from', 'using', 'in', 'on')
  reader.take('the')
  const fields = reader.takeRun(vocabulary.longestName, (words) => {
    const named = vocabulary.named(words).filter(({ path }) => !isMeasured(path))
    return named.length === 0 ? undefined : named
  })
  if (!fields) return undefined
  if (reader.take(...emptyWords, ...setWords)) return undefined
  const negation = reader.take("isn't", 'is not', 'are not', 'was not', 'not', '!=', 'other than')
  // "errors other than timeouts" are told by a word in them.
  if (negation === 'other than' && fields.every(({ path }) => isProse(path))) return undefined
  const isNegated = negation !== undefined
  const isJoined =
    isNegated ||
    reader.take('is', 'are', 'was', 'were', 'equals', '=', ':', 'named', 'called') !== undefined
  if (!isJoined && fields.every(({ path }) => isProse(path))) return undefined
  const known = reader.takeRun(vocabulary.longestValue, (words) => {
    return vocabulary
      .values(words)
      .find(({ field }) => fields.some((each) => samePath(each.path, field.path)))
  })
  const field = known?.field ?? fields.find(({ isText }) => isText) ?? fields[0]!
  const value = known?.value ?? takeUnknown(reader, context, isJoined)
  if (value === undefined || !(field.isText || field.isBoolean || known)) return undefined
  return equality(field, value, isNegated)
}

/** What people wrote is compared with a value only where they say so. */
function isProse([name]: readonly string[]): boolean {
  return name === 'input' || name === 'output' || name === 'expected' || name === 'error'
}

/** Scores and metrics are compared as numbers elsewhere. */
function isMeasured(path: readonly string[]): boolean {
  return path[0] === 'scores' || path[0] === 'metrics'
}

/** A value that is not among the frequent ones; a plain word only where nothing else may be meant. */
function takeUnknown(
  reader: PhraseReader,
  context: Context,
  isJoined: boolean,
): string | undefined {
  const word = reader.peek()
  if (!word) return undefined
  const isValue = word.kind === 'phrase' || (word.kind === 'text' && !isFiller(word.plain))
  if (!isValue) return undefined
  const looksLikeValue = /[\d_@./-]/.test(word.text) || word.text !== word.plain
  if (word.kind === 'text' && !isJoined && !looksLikeValue && context.begins(reader.at))
    return undefined
  reader.at++
  return word.text
}

/** `gpt-4o`, `gpt-4o model`, `claude` for all values that begin with it, `cached` for a boolean. */
function valueAlone(reader: PhraseReader, context: Context): Condition | undefined {
  const { vocabulary } = context
  reader.take('by', 'for', 'from', 'using', 'in', 'on', 'with', 'of')
  reader.take('the')
  const found = reader.takeRun(vocabulary.longestValue, (words) => {
    const isOther = isFiller(words) || isQuantity(words, context)
    const values = isOther ? [] : vocabulary.values(words)
    return values.length === 0 ? undefined : values
  })
  if (found) {
    const { field, value } = withFieldAfter(reader, context, found)
    return equality(field, value, false)
  }
  const beginning = reader.takeRun(4, (words) => {
    const isOther = isFiller(words) || isQuantity(words, context)
    const values = isOther ? [] : vocabulary.valuesBeginning(words)
    return values.length === 0 ? undefined : { words, values }
  })
  if (!beginning) return modelNamed(reader, context)
  const { field } = withFieldAfter(reader, context, beginning.values)
  const values = beginning.values.filter((each) => samePath(each.field.path, field.path))
  if (values.length === 1) return equality(field, values[0]!.value, false)
  return beginsWith(field, beginning.words, values)
}

/** `haiku`, `mini`: all models that have it in their names. */
function modelNamed(reader: PhraseReader, context: Context): Condition | undefined {
  const found = reader.takeIf((word) => {
    const values = isFiller(word) ? [] : context.vocabulary.modelsNamed(word)
    return values.length === 0 ? undefined : { word, values }
  })
  if (!found) return undefined
  const { field } = withFieldAfter(reader, context, found.values)
  const path = printPath(field.path)
  const pattern = printString(`%${likeText(found.word)}%`)
  return {
    kind: 'condition',
    text: `${path} ilike ${pattern}`,
    negated: `(${path} is null or ${path} not ilike ${pattern})`,
    told: `${path} has "${found.word}"`,
    field,
  }
}

/** Other values that begin so are found as well, as long as they are written with the same letters. */
function beginsWith(
  field: VocabularyField,
  words: string,
  values: readonly KnownValue[],
): Condition {
  const path = printPath(field.path)
  if (!values.every(({ value }) => value.toLowerCase().startsWith(words))) {
    const list = values.map(({ value }) => printString(value)).join(', ')
    return {
      kind: 'condition',
      text: `${path} in [${list}]`,
      negated: `(${path} is null or ${path} not in [${list}])`,
      told: `${path} is one of ${list}`,
      field,
    }
  }
  const pattern = printString(`${likeText(words)}%`)
  return {
    kind: 'condition',
    text: `${path} ilike ${pattern}`,
    negated: `(${path} is null or ${path} not ilike ${pattern})`,
    told: `${path} begins with ${words}`,
    field,
  }
}

/** Names of scores are names of spans, too: as a word, the score is meant. */
function isQuantity(words: string, { vocabulary }: Context): boolean {
  return vocabulary.named(words).some(({ isNumeric }) => isNumeric)
}

/** `cached`: the name of a field that is true or false. */
function truth(reader: PhraseReader, { vocabulary }: Context): Condition | undefined {
  reader.take('is', 'are', 'was', 'were')
  const field = reader.takeRun(vocabulary.longestName, (words) => {
    return vocabulary.named(words).find(({ isBoolean }) => isBoolean)
  })
  if (!field) return undefined
  const value = reader.attempt(() => {
    reader.take('is', '=', ':')
    return reader.take('true', 'false', 'yes', 'no')
  })
  return equality(field, value !== 'false' && value !== 'no', false)
}

/** `retried`: what a number of times is kept of has happened, as `retries` says. */
function counted(reader: PhraseReader, { vocabulary }: Context): Condition | undefined {
  const field = reader.takeIf((word) => {
    const stem = /^(\w{3,})ed$/.exec(word)?.[1]
    if (stem === undefined) return undefined
    const nouns = [stem.replace(/i$/, 'y'), stem.replace(/i$/, 'ie'), `${stem}e`].map((noun) =>
      noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`,
    )
    return nouns
      .flatMap((noun) => vocabulary.named(noun))
      .find(({ isNumeric, path }) => isNumeric && path[0] === 'metadata')
  })
  if (!field) return undefined
  const path = printPath(field.path)
  return {
    kind: 'condition',
    text: `${path} > 0`,
    negated: `coalesce(${path}, 0) = 0`,
    told: `${path} above 0`,
  }
}

function withFieldAfter(
  reader: PhraseReader,
  { vocabulary }: Context,
  values: readonly KnownValue[],
) {
  const after = reader.attempt(() => {
    const fields = reader.takeRun(vocabulary.longestName, (words) => {
      const named = vocabulary.named(words)
      return named.length === 0 ? undefined : named
    })
    return (
      fields && values.find(({ field }) => fields.some((each) => samePath(each.path, field.path)))
    )
  })
  return after ?? values[0]!
}

function equality(field: VocabularyField, value: string | boolean, isNegated: boolean): Condition {
  const path = printPath(field.path)
  const literal = typeof value === 'string' ? printString(value) : String(value)
  const same = `${path} = ${literal}`
  const other = `${path} is distinct from ${literal}`
  return {
    kind: 'condition',
    text: isNegated ? other : same,
    negated: isNegated ? same : other,
    told: `${path} is ${isNegated ? 'not ' : ''}${typeof value === 'string' ? `"${value}"` : value}`,
    field,
  }
}

/** Another value of a field that was just compared: `or bob`. */
export function anotherValue(reader: PhraseReader, field: VocabularyField): Recognized | undefined {
  const word = reader.peek()
  if (!word || (word.kind !== 'text' && word.kind !== 'phrase') || isFiller(word.plain))
    return undefined
  reader.at++
  return reader.means(equality(field, word.text, false))
}

/** `without expected`, `missing output`, `has comments`, `with a Factuality score`. */
function presence(reader: PhraseReader, context: Context): Condition | undefined {
  const said = reader.attempt(() => saidOfField(reader, context))
  if (said) return said
  const is = reader.take('that have', 'which have', 'that has', 'having', 'have', 'has', 'with')
  const lacks = is
    ? undefined
    : reader.take('that have no', 'with no', 'without', 'missing', 'lacking', 'no', 'empty')
  if (!is && !lacks) return undefined
  const isMissing = lacks !== undefined || reader.take('no') !== undefined
  reader.take('any', 'an', 'a', 'the')
  const field = takeAnyField(reader, context)
  if (!field || (!isMissing && context.begins(reader.at) && is === 'with')) return undefined
  return present(field, isMissing)
}

/** `output is empty`, `expected is missing`. */
function saidOfField(reader: PhraseReader, context: Context): Condition | undefined {
  reader.take('where', 'whose')
  reader.take('the')
  const field = takeAnyField(reader, context)
  if (!field) return undefined
  if (reader.take(...emptyWords)) return present(field, true)
  return reader.take(...setWords) ? present(field, false) : undefined
}

const emptyWords = ['is empty', 'is missing', 'is null', 'is not set', 'missing', 'empty']
const setWords = ['is not empty', 'is present', 'is not null', 'is set', 'exists']

function takeAnyField(reader: PhraseReader, { vocabulary }: Context): VocabularyField | undefined {
  return reader.takeRun(vocabulary.longestName + 1, (words) => {
    const bare = words.replace(/ (scores?|field|value)$/, '')
    return vocabulary.named(words)[0] ?? vocabulary.named(bare)[0]
  })
}

function present(field: VocabularyField, isMissing: boolean): Condition {
  const path = printPath(field.path)
  return {
    kind: 'condition',
    text: `${path} is ${isMissing ? '' : 'not '}null`,
    negated: `${path} is ${isMissing ? 'not ' : ''}null`,
    told: `${isMissing ? 'without' : 'with'} ${path}`,
  }
}

/** The text as a part of a pattern that stands for itself. */
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
