/**
 * Tokens and costs of a span, under all the names that instrumentations have for them. What is read is no
 * metadata any more; what has a name that says something else stays there.
 */
import { isObject, type JsonObject, type Value } from '../../type/value.ts'
import { type AttributeReader, numberOf, objectOf } from '../attribute-reader.ts'
import { readJsonText } from '../json-text.ts'
import type { RecordDraft } from '../record-draft.ts'
import { reconcileUsage, type UsageCounts, type UsageHint } from './reconcile-usage.ts'
import { type CostRole, type CountRole, costRole, countRole, isCostName } from './usage-role.ts'

interface UsageSource {
  /** Of an attribute that is a number or an object in JSON; one that ends in a dot is that of many. */
  readonly name: string
  /** All of it are costs. */
  readonly isCost?: boolean
  /** Each count is of tokens that no other has, unless the counts tell otherwise. */
  readonly isApart?: boolean
}

/**
 * The surest first: of each role the first that has it counts. By their conventions, the parts that OpenTelemetry,
 * OpenInference, OpenLLMetry, LangSmith and LiveKit count are within the whole. Langfuse prices each count
 * by itself, so they are apart.
 */
const sources: readonly UsageSource[] = [
  { name: 'gen_ai.usage.' },
  { name: 'gen_ai.aggregated_usage.' },
  { name: 'gen_ai.usage' },
  { name: 'llm.token_count.' },
  { name: 'llm.usage.' },
  { name: 'ai.usage.' },
  { name: 'langsmith.usage_metadata' },
  { name: 'langfuse.observation.usage_details', isApart: true },
  { name: 'langfuse.observation.usage', isApart: true },
  { name: 'mlflow.chat.tokenUsage' },
  { name: 'lk.llm_metrics' },
  { name: 'lk.realtime_model_metrics' },
  { name: 'gen_ai.cost.', isCost: true },
  { name: 'gen_ai.cost', isCost: true },
  { name: 'llm.cost.', isCost: true },
  { name: 'llm.cost', isCost: true },
  { name: 'operation.cost', isCost: true },
  { name: 'langfuse.observation.cost_details', isCost: true, isApart: true },
  { name: 'langfuse.observation.total_cost', isCost: true },
  { name: 'mlflow.llm.cost', isCost: true },
  { name: 'langwatch.span.cost', isCost: true },
  { name: 'llm.response.cost', isCost: true },
  { name: 'litellm.response_cost', isCost: true },
  { name: 'response_cost', isCost: true },
]

/** What the AI SDK was told by a provider, as it came: counts of caches, and costs of gateways. */
const providerMetadata = 'ai.response.providerMetadata'

/** A number within an attribute. */
interface Found {
  readonly source: UsageSource
  readonly attribute: string
  /** Of the number in it, or what follows the prefix. */
  readonly path: string
  readonly value: number
}

type Counts = ReadonlyMap<CountRole, Found>

/** @param scope the name of what made the span */
export function readUsage(reader: AttributeReader, draft: RecordDraft, scope: string): void {
  const all = sources.flatMap((source) => foundIn(reader, source))
  const inner = foundInProviderMetadata(reader)
  if (all.length === 0 && inner.length === 0) return
  const isCost = ({ source, path }: Found) => source.isCost === true || isCostName(path)
  const known = [...all, ...inner]
  const counts = byRole(
    known.filter((found) => !isCost(found)),
    roleOf,
  )
  const costs = byRole(known.filter(isCost), ({ path }) => costRole(path))
  setCounts(counts, hintOf(counts, reader, draft, scope), draft)
  setCosts(
    costs,
    known.filter((found) => isCost(found) && found.source.isApart),
    draft,
  )
  take(reader, draft, all, (found) => {
    // What is told twice is told once; what is told otherwise the second time stays, under its own name.
    const role = isCost(found) ? costRole(found.path) : roleOf(found)
    if (role === undefined || role === 'part') return false
    return isSame(
      found,
      isCost(found) ? costs.get(role as CostRole) : counts.get(role as CountRole),
    )
  })
}

function isSame(found: Found, chosen: Found | undefined): boolean {
  return found.value === chosen?.value
}

function foundIn(reader: AttributeReader, source: UsageSource): Found[] {
  const { name } = source
  const attributes = name.endsWith('.') ? reader.namesFrom(name) : [name]
  return attributes.flatMap((attribute) => {
    const value = readJsonText(reader.peek(attribute))
    return numbersIn(value, attribute.slice(name.length)).map(([path, number]) => {
      return { source, attribute, path, value: number }
    })
  })
}

/** Numbers, and texts of them, by where in the value they are. */
function numbersIn(value: Value, path: string): [path: string, number: number][] {
  if (value !== null && isObject(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      numbersIn(member, path === '' ? name : `${path}.${name}`),
    )
  }
  const number = numberOf(value)
  return number === undefined ? [] : [[path, number]]
}

function foundInProviderMetadata(reader: AttributeReader): Found[] {
  const providers = objectOf(readJsonText(reader.peek(providerMetadata)))
  return Object.entries(providers).flatMap(([provider, told]) => {
    const usage = objectOf(told).usage ?? null
    const numbers = [...numbersIn(usage, ''), ...numbersIn(withoutUsage(told), '')]
    return numbers.flatMap(([path, value]): Found[] => {
      const source = { name: provider }
      if (isCostName(path)) {
        const isTotal = costRole(path) === 'total'
        return isTotal ? [{ source, attribute: providerMetadata, path, value }] : []
      }
      const role = countRole(path)
      const isUncached = role === 'prompt' && provider === 'anthropic'
      if (!isUncached && !role?.startsWith('cache')) return []
      return [{ source, attribute: providerMetadata, path: isUncached ? 'uncached' : path, value }]
    })
  })
}

/** Only numbers at the top: what is deeper is not about the call as a whole. */
function withoutUsage(told: Value): JsonObject {
  const members = Object.entries(objectOf(told))
  return Object.fromEntries(members.filter(([, value]) => value === null || !isObject(value)))
}

function roleOf({ attribute, path }: Found): CountRole | undefined {
  // What embeds texts has no other count.
  return attribute === 'ai.usage.tokens' ? 'prompt' : countRole(path)
}

/** The first of each role, but for names that are older, or those of details, where there are others. */
function byRole<Role extends string>(
  found: readonly Found[],
  role: (found: Found) => Role | undefined,
): Map<Role, Found> {
  const chosen = new Map<Role, Found>()
  for (const one of found) {
    const of = role(one)
    if (of === undefined) continue
    const before = chosen.get(of)
    const isBetter = before && before.source === one.source && rank(one) < rank(before)
    if (!before || isBetter) chosen.set(of, one)
  }
  return chosen
}

function rank({ path }: Found): number {
  return (
    (path.includes('details.') ? 2 : 0) + (/^(prompt|completion)_?[tT]okens$/.test(path) ? 1 : 0)
  )
}

/** What the counts are like that come without anything that tells. */
function hintOf(
  counts: Counts,
  reader: AttributeReader,
  draft: RecordDraft,
  scope: string,
): UsageHint {
  const provider = [
    draft.metadata.provider ?? null,
    reader.peek('gen_ai.system'),
    reader.peek('ai.model.provider'),
  ].join(' ')
  const isNative = (role: CountRole, name: RegExp) => {
    const found = counts.get(role)
    // Usage as OpenAI has it may be sent to Langfuse as it is.
    return found?.source.isApart === true && name.test(found.path)
  }
  // Up to its version 5, the AI SDK gives the counts of these providers as they have them.
  const isRaw =
    /anthropic|bedrock/i.test(provider) &&
    reader.namesFrom('ai.usage.').length > 0 &&
    reader.namesFrom('ai.usage.inputTokenDetails.').length === 0
  return {
    cacheIsApart: isRaw || isNative('prompt', /^input/),
    // Google's agents count the thoughts of Gemini apart, as it does.
    reasoningIsApart:
      isNative('completion', /^output/) || /gcp\.vertex\.agent/.test(`${provider} ${scope}`),
  }
}

function setCounts(counts: Counts, hint: UsageHint, draft: RecordDraft): void {
  const given: UsageCounts = Object.fromEntries(
    Array.from(counts, ([role, { value }]) => [role, value]),
  )
  const { prompt, completion, total } = reconcileUsage(given, hint)
  draft.setMetric('prompt_tokens', prompt)
  draft.setMetric('completion_tokens', completion)
  draft.setMetric('tokens', total)
  draft.setMetric('prompt_cached_tokens', given.cacheRead)
  draft.setMetric('prompt_cache_creation_tokens', given.cacheWrite)
  draft.setMetric('prompt_cache_creation_5m_tokens', given.cacheWrite5m)
  draft.setMetric('prompt_cache_creation_1h_tokens', given.cacheWrite1h)
  draft.setMetric('completion_reasoning_tokens', given.reasoning)
  draft.setMetric('prompt_audio_tokens', given.promptAudio)
  draft.setMetric('completion_audio_tokens', given.completionAudio)
  draft.setMetric('prompt_image_tokens', given.promptImage)
  draft.setMetric('completion_image_tokens', given.completionImage)
}

/** Without a total, that of the prompt and the completion, or of all that is told apart. */
function setCosts(
  costs: ReadonlyMap<CostRole, Found>,
  apart: readonly Found[],
  draft: RecordDraft,
): void {
  const prompt = costs.get('prompt')?.value
  const completion = costs.get('completion')?.value
  const parts = apart.length > 0 ? apart.map(({ value }) => value) : [prompt, completion]
  const known = parts.filter((part) => part !== undefined)
  const sum = known.length > 0 ? known.reduce((a, b) => a + b, 0) : undefined
  draft.setMetric('estimated_cost', costs.get('total')?.value ?? sum)
  draft.setMetric('prompt_cost', prompt)
  draft.setMetric('completion_cost', completion)
}

/** Takes the numbers that are read; of an object, what is left of it is metadata. */
function take(
  reader: AttributeReader,
  draft: RecordDraft,
  all: readonly Found[],
  isRead: (found: Found) => boolean,
): void {
  const paths = new Map<string, Set<string>>()
  for (const found of all.filter(isRead)) {
    const known = paths.get(found.attribute) ?? new Set()
    const inAttribute = found.path.slice(
      Math.max(0, found.attribute.length - found.source.name.length),
    )
    paths.set(found.attribute, known.add(inAttribute.replace(/^\./, '')))
  }
  for (const [attribute, read] of paths) {
    const value = readJsonText(reader.take(attribute))
    if (value !== null && isObject(value)) draft.setMetadata(attribute, without(value, read, ''))
  }
}

/** Undefined when nothing is left. */
function without(object: JsonObject, paths: ReadonlySet<string>, at: string): Value | undefined {
  const left = Object.entries(object).flatMap(([name, value]): [string, Value][] => {
    const path = at === '' ? name : `${at}.${name}`
    if (value !== null && isObject(value)) {
      const inner = without(value, paths, path)
      return inner === undefined ? [] : [[name, inner]]
    }
    return paths.has(path) ? [] : [[name, value]]
  })
  return left.length === 0 ? undefined : Object.fromEntries(left)
}
