/** What rows are: failed, of a type, the root of a trace, tagged. */
import { printPath, printString } from '../parser/print.ts'
import { isFiller } from './filler.ts'
import type { Context, Meaning, PhraseReader, Recognized } from './phrase.ts'

type Condition = Extract<Meaning, { kind: 'condition' }>

const failed: Condition = {
  kind: 'condition',
  text: 'error is not null',
  negated: 'error is null',
  told: 'with an error',
}

const succeeded: Condition = {
  kind: 'condition',
  text: 'error is null',
  negated: 'error is not null',
  told: 'without an error',
}

const succeededWords = (
  'without any errors|without an error|without errors|without error|with no errors|with no error|no errors|no error|' +
  'error free|error-free|not failed|not failing|did not fail|that did not fail|successful|successfully|succeeded|' +
  'that succeeded|success|successes'
).split('|')

const failedWords = (
  'with any errors|with an error|with errors|with error|that have errors|that had errors|that has errors|having errors|' +
  'that errored|that failed|which failed|not successful|failed|failing|failures|failure|fail|fails|errored|' +
  'erroring|errors|error|crashed|crashes|exceptions|exception|unsuccessful|broken'
).split('|')

const types = [
  'llm',
  'tool',
  'score',
  'task',
  'function',
  'eval',
  'automation',
  'facet',
  'classifier',
  'review',
]

const typeNames: Readonly<Record<string, string>> = {
  model: 'llm',
  scorer: 'score',
  scoring: 'score',
}

export function recognizeState(reader: PhraseReader, context: Context): Recognized | undefined {
  const meaning =
    takeScored(reader, context) ??
    takeOutcome(reader) ??
    takeType(reader) ??
    takeRoot(reader, context)
  if (meaning) return reader.means(meaning)
  const tags = takeTag(reader, context)
  return tags && reader.means(...tags)
}

function takeOutcome(reader: PhraseReader): Condition | undefined {
  if (reader.take(...succeededWords)) return succeeded
  return reader.take(...failedWords) ? failed : undefined
}

const unscored = (
  'without any scores|without any score|without scores|without a score|with no scores|with no score|' +
  'that have no score|that have no scores|not scored|unscored|missing scores|missing score|no scores|no score'
).split('|')

const scored = 'with scores|with a score|with any score|that have a score|that have scores'.split(
  '|',
)

/** `without a score`, `unscored`. */
function takeScored(reader: PhraseReader, { vocabulary }: Context): Condition | undefined {
  return reader.attempt(() => {
    const isMissing = reader.take(...unscored) !== undefined
    if (!isMissing && !reader.take(...scored)) return undefined
    // "with a score below 0.5" is another thing.
    const next = reader.peek()
    if (
      next &&
      /^(of|above|below|over|under|at|between|less|more|[<>=]=?|\d.*)$/.test(next.plain)
    ) {
      return undefined
    }
    const paths = vocabulary.scores.map(({ path }) => printPath(path))
    const tested = paths.length > 0 ? paths : ['scores']
    const none = `(${tested.map((path) => `${path} is null`).join(' and ')})`
    const some = `(${tested.map((path) => `${path} is not null`).join(' or ')})`
    return {
      kind: 'condition',
      text: isMissing ? none : some,
      negated: isMissing ? some : none,
      told: isMissing ? 'without a score' : 'with a score',
    }
  })
}

/** `llm calls`, `tool spans`, `model calls`. */
function takeType(reader: PhraseReader): Condition | undefined {
  return reader.attempt(() => {
    const type = reader.takeIf((word) => {
      if (Object.hasOwn(typeNames, word)) return typeNames[word]
      return types.find((each) => each === word)
    })
    if (!type || !reader.take('calls', 'call', 'spans', 'span', 'steps', 'step')) return undefined
    const field = printPath(['span_attributes', 'type'])
    return {
      kind: 'condition',
      text: `${field} = ${printString(type)}`,
      negated: `${field} is distinct from ${printString(type)}`,
      told: `spans of type ${type}`,
    }
  })
}

function takeRoot(reader: PhraseReader, { rows }: Context): Condition | undefined {
  if (rows === 'traces') return undefined
  const phrases = ['root spans', 'root span', 'roots', 'top level spans', 'top-level spans']
  if (!reader.take(...phrases)) return undefined
  return { kind: 'condition', text: 'is_root = true', told: 'root spans' }
}

/** `tagged urgent`, `with the tag urgent`, `untagged`. */
function takeTag(reader: PhraseReader, context: Context): Meaning[] | undefined {
  if (reader.take('untagged', 'without tags', 'without any tags', 'with no tags', 'not tagged')) {
    return [
      {
        kind: 'condition',
        text: 'tags is null',
        negated: 'tags is not null',
        told: 'without tags',
      },
    ]
  }
  return reader.attempt(() => {
    const opening = reader.take(
      ...['tagged with', 'tagged as', 'tagged', 'labelled', 'labeled', 'with the tag', 'with tag'],
      ...['has tag', 'have tag', 'having tag', 'tags', 'tag'],
    )
    if (!opening) return undefined
    reader.take(':', '=', 'is', 'include', 'includes', 'contain', 'contains')
    const word = reader.peek()
    if (!word || word.kind === 'symbol' || word.kind === 'tag') return undefined
    reader.at++
    const meanings: Meaning[] = [hasTag(word.text)]
    for (let next = anotherTag(reader, context); next; next = anotherTag(reader, context)) {
      meanings.push(...next)
    }
    return meanings
  })
}

/** `or urgent`, `and urgent`, `but not urgent`, where the word has no other meaning. */
function anotherTag(reader: PhraseReader, context: Context): Meaning[] | undefined {
  return reader.attempt(() => {
    const joint = reader.take('or', 'but not', 'and not', 'not', 'and')
    const word = joint && reader.peek()
    if (!word || (word.kind !== 'text' && word.kind !== 'phrase')) return undefined
    if (isFiller(word.plain) || context.begins(reader.at)) return undefined
    reader.at++
    const joined: Meaning[] =
      joint === 'or' ? [{ kind: 'or' }] : joint.endsWith('not') ? [{ kind: 'not' }] : []
    return [...joined, hasTag(word.text)]
  })
}

export function hasTag(tag: string): Condition {
  const text = `tags includes ${printString(tag)}`
  return {
    kind: 'condition',
    text,
    negated: `not coalesce(${text}, false)`,
    told: `tagged "${tag}"`,
  }
}
