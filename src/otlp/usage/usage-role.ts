/** What a count or a cost is of, as its name says. Instrumentations agree on words, not on names. */

export type CountRole =
  | 'prompt'
  | 'completion'
  | 'total'
  | 'uncached'
  | 'cacheRead'
  | 'cacheWrite'
  | 'cacheWrite5m'
  | 'cacheWrite1h'
  | 'reasoning'
  | 'promptAudio'
  | 'completionAudio'
  | 'promptImage'
  | 'completionImage'

export type CostRole = 'total' | 'prompt' | 'completion' | 'part'

/** Words that say nothing of what is counted. */
const fillers: ReadonlySet<string> = new Set([
  ...['token', 'tokens', 'count', 'counts', 'usage', 'detail', 'details', 'metadata', 'num'],
  ...['cost', 'costs', 'usd', 'experimental', 'estimated', 'amount'],
])

const promptWords: ReadonlySet<string> = new Set(['input', 'prompt', 'in', 'inputs'])
const completionWords: ReadonlySet<string> = new Set([
  ...['output', 'completion', 'out', 'outputs', 'candidates', 'generated'],
])
const writeWords: ReadonlySet<string> = new Set([
  ...['write', 'writes', 'written', 'creation', 'create', 'created', 'storage'],
])
const readWords: ReadonlySet<string> = new Set(['read', 'reads', 'hit', 'hits', 'content'])
const reasoningWords: ReadonlySet<string> = new Set([
  ...['reasoning', 'thinking', 'thought', 'thoughts'],
])
const mediaRoles: ReadonlyMap<string, readonly [CountRole, CountRole]> = new Map([
  ['audio', ['promptAudio', 'completionAudio']],
  ['image', ['promptImage', 'completionImage']],
])

/**
 * `cache_read.input_tokens`, `cachedInputTokens` and `prompt_tokens_details.cached_tokens` are one role;
 * undefined for what counts something else, or only a part of a role, as cached audio.
 */
export function countRole(name: string): CountRole | undefined {
  const words = wordsOf(name)
  const isCache = words.some(
    (word) => word === 'cache' || word === 'cached' || word === 'ephemeral',
  )
  if (isCache || words.includes('uncached')) return cacheRole(words)
  const [first, second, ...more] = words
  if (more.length > 0) return undefined
  if (first === undefined || (first === 'total' && second === undefined)) return 'total'
  if (second === undefined && promptWords.has(first)) return 'prompt'
  if (second === undefined && completionWords.has(first)) return 'completion'
  const others = (known: ReadonlySet<string>) => words.filter((word) => !known.has(word))
  const [kind, ...unknown] = others(new Set([...promptWords, ...completionWords]))
  if (kind === undefined || unknown.length > 0) return undefined
  const isOfPrompt = words.some((word) => promptWords.has(word))
  if (reasoningWords.has(kind)) return isOfPrompt ? undefined : 'reasoning'
  const media = mediaRoles.get(kind)
  if (!media || words.length === 1) return undefined
  return isOfPrompt ? media[0] : media[1]
}

function cacheRole(words: readonly string[]): CountRole | undefined {
  const rest = words.filter((word) => !promptWords.has(word) && !cacheWords.has(word))
  if (words.includes('uncached')) return rest.length === 1 ? 'uncached' : undefined
  if (rest.length === 1 && (rest[0] === 'no' || rest[0] === 'non' || rest[0] === 'miss')) {
    return 'uncached'
  }
  const lifetime = rest.find((word) => /^(5m|1h)/.test(word))
  const others = rest.filter((word) => word !== lifetime && !writeWords.has(word))
  if (lifetime !== undefined) {
    if (others.length > 0) return undefined
    return lifetime.startsWith('5m') ? 'cacheWrite5m' : 'cacheWrite1h'
  }
  if (rest.length > 0 && others.length === 0) return 'cacheWrite'
  return rest.every((word) => readWords.has(word)) ? 'cacheRead' : undefined
}

const cacheWords: ReadonlySet<string> = new Set(['cache', 'cached', 'ephemeral', 'tokens'])

/** Of a name that is known to be that of a cost; `part` for a cost of something that is told apart. */
export function costRole(name: string): CostRole {
  const words = wordsOf(name)
  const [first] = words
  if (words.length === 0 || (words.length === 1 && first === 'total')) return 'total'
  if (words.length === 1 && promptWords.has(first!)) return 'prompt'
  if (words.length === 1 && completionWords.has(first!)) return 'completion'
  return 'part'
}

/** Whether a name says that it is that of a cost. */
export function isCostName(name: string): boolean {
  return /(^|[._])(cost|costs|usd)([._]|$)/.test(snakeCase(name))
}

function wordsOf(name: string): string[] {
  return snakeCase(name)
    .split(/[._]/)
    .filter((word) => word !== '' && !fillers.has(word))
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
}
