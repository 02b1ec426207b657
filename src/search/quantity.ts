/** What can be measured: latency, tokens, cost, scores and other numbers, by the names people use. */
import { printPath } from '../parser/print.ts'
import type { Context, PhraseReader, Quantity, Unit } from './phrase.ts'
import type { VocabularyField } from './vocabulary.ts'
import { plain } from './words.ts'

type Name =
  | 'duration'
  | 'first_token'
  | 'prompt'
  | 'completion'
  | 'cached'
  | 'reasoning'
  | 'tokens'
  | 'cost'

const names: Readonly<Record<string, Name>> = {
  latency: 'duration',
  latencies: 'duration',
  duration: 'duration',
  durations: 'duration',
  runtime: 'duration',
  'run time': 'duration',
  'running time': 'duration',
  'response time': 'duration',
  'response times': 'duration',
  'execution time': 'duration',
  'time taken': 'duration',
  'elapsed time': 'duration',
  ttft: 'first_token',
  'time to first token': 'first_token',
  'first token latency': 'first_token',
  'prompt tokens': 'prompt',
  'input tokens': 'prompt',
  'tokens in': 'prompt',
  'completion tokens': 'completion',
  'output tokens': 'completion',
  'generated tokens': 'completion',
  'tokens out': 'completion',
  'cached tokens': 'cached',
  'reasoning tokens': 'reasoning',
  token: 'tokens',
  tokens: 'tokens',
  'total tokens': 'tokens',
  'token count': 'tokens',
  'token counts': 'tokens',
  'token usage': 'tokens',
  'tokens used': 'tokens',
  cost: 'cost',
  costs: 'cost',
  price: 'cost',
  spend: 'cost',
  spending: 'cost',
  spent: 'cost',
  'estimated cost': 'cost',
}

/** Takes the longest name of a quantity that stands here. */
export function takeQuantity(reader: PhraseReader, context: Context): Quantity | undefined {
  return (
    takeCountable(reader) ??
    reader.takeRun(4, (words) => {
      return Object.hasOwn(names, words) ? quantityOf(names[words]!, context) : undefined
    }) ??
    reader.takeRun(context.vocabulary.longestName + 1, (words) => numericField(words, context))
  )
}

function numericField(words: string, { vocabulary }: Context): Quantity | undefined {
  const bare = words.replace(/ (scores?|values?|rating)$/, '')
  const fields = [...vocabulary.named(words), ...vocabulary.named(bare)]
  const field = fields.find(({ isNumeric }) => isNumeric)
  return field && fieldQuantity(field)
}

export function fieldQuantity({ path }: VocabularyField): Quantity {
  const text = printPath(path)
  const name = path.at(-1)!
  return { name, row: text, group: `avg(${text})`, told: `average ${name}`, unit: 'none' }
}

/** What "score" means in an order or a measure: of several, the one that most records have. */
export function anyScore({ vocabulary }: Context): Quantity | undefined {
  const [first] = [...vocabulary.scores].sort((a, b) => b.count - a.count)
  return first && fieldQuantity(first)
}

export function quantityOf(name: Name, { vocabulary, rows }: Context): Quantity {
  const average = (row: string, unit: Unit, column: string, told: string): Quantity => {
    return { name: column, row, group: `avg(${row})`, told: `average ${told}`, unit }
  }
  const total = (row: string, unit: Unit, column: string, told: string): Quantity => {
    return { name: column, row, group: `sum(${row})`, told: `total ${told}`, unit }
  }
  switch (name) {
    case 'duration':
      return average('metrics.duration', 'seconds', 'duration', 'duration')
    case 'first_token':
      return average(
        'metrics.time_to_first_token',
        'seconds',
        'time_to_first_token',
        'time to first token',
      )
    case 'prompt':
      return total('metrics.prompt_tokens', 'tokens', 'prompt_tokens', 'prompt tokens')
    case 'completion':
      return total('metrics.completion_tokens', 'tokens', 'completion_tokens', 'completion tokens')
    case 'cached':
      return total('metrics.prompt_cached_tokens', 'tokens', 'cached_tokens', 'cached tokens')
    case 'reasoning':
      return total(
        'metrics.completion_reasoning_tokens',
        'tokens',
        'reasoning_tokens',
        'reasoning tokens',
      )
    case 'tokens': {
      const isTotal = rows === 'traces' || !vocabulary.has('metrics', 'tokens')
      const hasTotal = rows === 'traces' || vocabulary.has('metrics', 'total_tokens')
      const logged = isTotal && hasTotal ? 'metrics.total_tokens' : 'metrics.tokens'
      return total(logged, 'tokens', 'tokens', 'tokens')
    }
    case 'cost':
      return total('estimated_cost()', 'dollars', 'cost', 'cost')
  }
}

const countables: Readonly<Record<string, Quantity>> = {
  errors: counted('errors', 'count(error)', 'number of errors'),
  failures: counted('errors', 'count(error)', 'number of errors'),
  'error rate': rate('error_rate', 'error is not null', 'share of errors'),
  'error rates': rate('error_rate', 'error is not null', 'share of errors'),
  'failure rate': rate('error_rate', 'error is not null', 'share of errors'),
  ...Object.fromEntries(
    ['percentage', 'percent', 'share', 'fraction', 'proportion', 'rate'].flatMap((share) =>
      ['errors', 'failures', 'failed requests', 'failed calls', 'failing requests'].map((what) => [
        `${share} of ${what}`,
        rate('error_rate', 'error is not null', 'share of errors'),
      ]),
    ),
  ),
  'success rate': rate('success_rate', 'error is null', 'share without error'),
  ...Object.fromEntries(
    (
      'requests request calls call records record rows row spans span events logs entries runs ' +
      'usage traffic volume examples cases'
    )
      .split(' ')
      .map((name) => [name, counted('count', 'count(1)', 'number of records')]),
  ),
  traces: counted('traces', 'count_distinct(root_span_id)', 'number of traces'),
  'llm calls': ofType('llm'),
  'tool calls': ofType('tool'),
}

function counted(name: string, group: string, told: string): Quantity {
  return { name, row: undefined, group, told, unit: 'none' }
}

function rate(name: string, condition: string, told: string): Quantity {
  return { name, row: undefined, group: `avg(${condition} ? 1 : 0)`, told, unit: 'share' }
}

function ofType(type: 'llm' | 'tool'): Quantity {
  const group = `count(1) filter (where span_attributes.type = '${type}')`
  return counted(`${type}_calls`, group, `number of ${type} calls`)
}

export function countOf(what: 'errors' | 'requests'): Quantity {
  return countables[what]!
}

/** What groups are counted by; single words of these stand for other things, too. */
export function takeCountable(reader: PhraseReader): Quantity | undefined {
  return reader.takeRun(4, (words) => {
    return Object.hasOwn(countables, words) && words.includes(' ') ? countables[words] : undefined
  })
}

/** As `takeCountable`, where the words before say that something is counted. */
export function takeCounted(reader: PhraseReader): Quantity | undefined {
  return reader.takeRun(4, (words) =>
    Object.hasOwn(countables, words) ? countables[words] : undefined,
  )
}

/** A column's name out of what a field is called. */
export function aliasOf(text: string): string {
  const words = plain(text).match(/[\p{L}\p{N}]+/gu) ?? []
  const joined = words.join('_')
  return joined === '' || /^\p{N}/u.test(joined) ? `value_${joined}` : joined
}
