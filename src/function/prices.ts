/**
 * What models cost, in US dollars per million tokens: list prices of the providers as they published
 * them up to early 2026, for requests of ordinary size and speed. An operator's own table goes over
 * this one (`readPriceTable`).
 */
import { AssayError } from '../error.ts'

export interface ModelPrice {
  readonly input: number
  readonly output: number
  /** Tokens read from a cache; as input when undefined. */
  readonly cacheRead?: number
  /** Tokens written to a cache; as input when undefined. */
  readonly cacheWrite?: number
  /** Tokens written to a cache for five minutes and for an hour, where these differ. */
  readonly cacheWrite5m?: number
  readonly cacheWrite1h?: number
}

/** By name of the model, without provider and date. */
export type PriceTable = { readonly [model: string]: ModelPrice }

const priceFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite5m', 'cacheWrite1h']

export const defaultPrices: PriceTable = {
  // OpenAI
  'gpt-5.2': cached(1.75, 0.175, 14),
  'gpt-5.2-codex': cached(1.75, 0.175, 14),
  'gpt-5.2-pro': plain(21, 168),
  'gpt-5.1': cached(1.25, 0.125, 10),
  'gpt-5.1-codex': cached(1.25, 0.125, 10),
  'gpt-5.1-codex-mini': cached(0.25, 0.025, 2),
  'gpt-5': cached(1.25, 0.125, 10),
  'gpt-5-codex': cached(1.25, 0.125, 10),
  'gpt-5-mini': cached(0.25, 0.025, 2),
  'gpt-5-nano': cached(0.05, 0.005, 0.4),
  'gpt-5-pro': plain(15, 120),
  'gpt-4.5-preview': cached(75, 37.5, 150),
  'gpt-4.1': cached(2, 0.5, 8),
  'gpt-4.1-mini': cached(0.4, 0.1, 1.6),
  'gpt-4.1-nano': cached(0.1, 0.025, 0.4),
  'gpt-4o': cached(2.5, 1.25, 10),
  'gpt-4o-2024-05-13': plain(5, 15),
  'gpt-4o-mini': cached(0.15, 0.075, 0.6),
  'chatgpt-4o': plain(5, 15),
  o1: cached(15, 7.5, 60),
  'o1-preview': cached(15, 7.5, 60),
  'o1-mini': cached(1.1, 0.55, 4.4),
  'o1-pro': plain(150, 600),
  o3: cached(2, 0.5, 8),
  'o3-mini': cached(1.1, 0.55, 4.4),
  'o3-pro': plain(20, 80),
  'o3-deep-research': cached(10, 2.5, 40),
  'o4-mini': cached(1.1, 0.275, 4.4),
  'o4-mini-deep-research': cached(2, 0.5, 8),
  'gpt-4-turbo': plain(10, 30),
  'gpt-4-1106-preview': plain(10, 30),
  'gpt-4-0125-preview': plain(10, 30),
  'gpt-4-vision-preview': plain(10, 30),
  'gpt-4': plain(30, 60),
  'gpt-4-32k': plain(60, 120),
  'gpt-3.5-turbo': plain(0.5, 1.5),
  'gpt-3.5-turbo-1106': plain(1, 2),
  'gpt-3.5-turbo-0613': plain(1.5, 2),
  'gpt-3.5-turbo-16k': plain(3, 4),
  'gpt-3.5-turbo-instruct': plain(1.5, 2),
  'text-embedding-3-small': plain(0.02, 0),
  'text-embedding-3-large': plain(0.13, 0),
  'text-embedding-ada-002': plain(0.1, 0),
  // Anthropic
  'claude-opus-4-6': anthropic(5, 25),
  'claude-opus-4-5': anthropic(5, 25),
  'claude-opus-4-1': anthropic(15, 75),
  'claude-opus-4': anthropic(15, 75),
  'claude-sonnet-4-6': anthropic(3, 15),
  'claude-sonnet-4-5': anthropic(3, 15),
  'claude-sonnet-4': anthropic(3, 15),
  'claude-haiku-4-5': anthropic(1, 5),
  'claude-3-7-sonnet': anthropic(3, 15),
  'claude-3-5-sonnet': anthropic(3, 15),
  'claude-3-5-haiku': anthropic(0.8, 4),
  'claude-3-opus': anthropic(15, 75),
  'claude-3-sonnet': anthropic(3, 15),
  'claude-3-haiku': {
    input: 0.25,
    output: 1.25,
    cacheRead: 0.03,
    cacheWrite: 0.3,
    cacheWrite5m: 0.3,
    cacheWrite1h: 0.5,
  },
  // Google
  'gemini-3-pro': cached(2, 0.2, 12),
  'gemini-3-flash': cached(0.5, 0.05, 3),
  'gemini-2.5-pro': cached(1.25, 0.125, 10),
  'gemini-2.5-flash': cached(0.3, 0.03, 2.5),
  'gemini-2.5-flash-lite': cached(0.1, 0.01, 0.4),
  'gemini-2.0-flash': cached(0.1, 0.025, 0.4),
  'gemini-2.0-flash-lite': plain(0.075, 0.3),
  'gemini-1.5-pro': cached(1.25, 0.3125, 5),
  'gemini-1.5-flash': cached(0.075, 0.01875, 0.3),
  'gemini-1.5-flash-8b': cached(0.0375, 0.01, 0.15),
  // Mistral
  'mistral-large': plain(2, 6),
  'mistral-large-2512': plain(0.5, 1.5),
  'mistral-medium': plain(0.4, 2),
  'mistral-small': plain(0.1, 0.3),
  'magistral-medium': plain(2, 5),
  'magistral-small': plain(0.5, 1.5),
  'ministral-8b': plain(0.1, 0.1),
  'ministral-3b': plain(0.04, 0.04),
  codestral: plain(0.3, 0.9),
  'devstral-medium': plain(0.4, 2),
  'devstral-small': plain(0.1, 0.3),
  'pixtral-large': plain(2, 6),
  'open-mistral-nemo': plain(0.15, 0.15),
  // Meta, as hosted
  'llama-4-maverick': plain(0.27, 0.85),
  'llama-4-scout': plain(0.18, 0.59),
  'llama-3.3-70b': plain(0.88, 0.88),
  'llama-3.1-405b': plain(3.5, 3.5),
  'llama-3.1-70b': plain(0.88, 0.88),
  'llama-3.1-8b': plain(0.18, 0.18),
  // DeepSeek, xAI, Cohere, Amazon
  'deepseek-chat': cached(0.28, 0.028, 0.42),
  'deepseek-reasoner': cached(0.28, 0.028, 0.42),
  'grok-4': cached(3, 0.75, 15),
  'grok-4-fast': cached(0.2, 0.05, 0.5),
  'grok-code-fast': cached(0.2, 0.02, 1.5),
  'grok-3': cached(3, 0.75, 15),
  'grok-3-mini': cached(0.3, 0.075, 0.5),
  'command-a': plain(2.5, 10),
  'command-r-plus': plain(2.5, 10),
  'command-r': plain(0.15, 0.6),
  'nova-premier': plain(2.5, 12.5),
  'nova-pro': cached(0.8, 0.2, 3.2),
  'nova-lite': cached(0.06, 0.015, 0.24),
  'nova-micro': cached(0.035, 0.00875, 0.14),
}

/**
 * The built-in table with an operator's entries over it: `{"my-model": {"input": 1, "output": 2}}`,
 * and null for a model that shall have no price. Throws CONFIG_INVALID with what is wrong and where.
 *
 * @param source what to call the text in messages: a file
 */
export function readPriceTable(text: string, source: string): PriceTable {
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch (cause) {
    throw invalid(`${source} is not JSON: ${(cause as Error).message}`, cause)
  }
  if (!isRecord(entries)) throw invalid(`${source} must hold an object of prices by model`)
  const table = new Map(Object.entries(defaultPrices))
  for (const [model, entry] of Object.entries(entries)) {
    if (entry === null) table.delete(model)
    else table.set(model, readPrice(entry, `${source}: "${model}"`))
  }
  return Object.fromEntries(table)
}

function readPrice(entry: unknown, place: string): ModelPrice {
  if (!isRecord(entry)) throw invalid(`${place} must be an object or null`)
  for (const [field, value] of Object.entries(entry)) {
    if (!priceFields.includes(field)) throw invalid(`${place} has the unknown field "${field}"`)
    if (typeof value !== 'number' || !(value >= 0)) {
      throw invalid(`${place}: ${field} must be dollars per million tokens, not ${String(value)}`)
    }
  }
  for (const field of ['input', 'output']) {
    if (!Object.hasOwn(entry, field)) throw invalid(`${place} has no ${field}`)
  }
  return entry as unknown as ModelPrice
}

function invalid(message: string, cause?: unknown): AssayError {
  return new AssayError('CONFIG_INVALID', message, {
    hint: `prices look like {"my-model": {"input": 2.5, "cacheRead": 1.25, "output": 10}}`,
    ...(cause !== undefined && { cause }),
  })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function plain(input: number, output: number): ModelPrice {
  return { input, output }
}

function cached(input: number, cacheRead: number, output: number): ModelPrice {
  return { input, cacheRead, output }
}

/** A tenth of the input's price to read from the cache; 1.25 and 2 times it to write for 5 min and 1 h. */
function anthropic(input: number, output: number): ModelPrice {
  const cents = (factor: number) => Math.round(input * factor * 1000) / 1000
  return {
    input,
    output,
    cacheRead: cents(0.1),
    cacheWrite: cents(1.25),
    cacheWrite5m: cents(1.25),
    cacheWrite1h: cents(2),
  }
}
