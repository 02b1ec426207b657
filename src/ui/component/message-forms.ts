/**
 * Messages to and from models in the forms that SDKs and instrumentations write: those of OpenAI (chats and
 * responses), Anthropic, Gemini, Bedrock, LangChain, the AI SDK, and of OpenTelemetry, whose messages have parts.
 */
import { isJsonObject } from '../../json/exact-number.ts'
import { parseExactly } from '../service/exact-json.ts'
import { type MediaPart, mediaOf } from './media-forms.ts'

export interface Message {
  readonly role: string
  readonly parts: readonly MessagePart[]
}

export type MessagePart =
  | { readonly kind: 'text' | 'thought'; readonly text: string }
  | MediaPart
  | ToolCall
  | ToolResult
  | { readonly kind: 'other'; readonly value: unknown }

export interface ToolCall {
  readonly kind: 'call'
  readonly name: string
  readonly given: unknown
  /** By which its result is told; undefined where the form has none. */
  readonly id?: string | undefined
}

export interface ToolResult {
  readonly kind: 'result'
  readonly name: string | undefined
  readonly value: unknown
  /** Of the call. */
  readonly id?: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Longer texts are not read for messages in them. */
const longestText = 1_000_000

/** Undefined for what is no chat. */
export function conversationOf(value: unknown): readonly Message[] | undefined {
  if (typeof value === 'string') {
    const read = isLikeJson(value) ? parsed(value) : undefined
    return typeof read === 'object' ? conversationOf(read) : undefined
  }
  if (Array.isArray(value)) return listOf(value)
  if (!isJsonObject(value)) return undefined
  const one = messageOf(value)
  if (one) return [one]
  const found = lists(value)
  return found && listOf(found)
}

/** The results of calls, which are shown beside them. */
export interface Paired {
  readonly resultOf: ReadonlyMap<ToolCall, ToolResult>
  /** Results that have a call. */
  readonly taken: ReadonlySet<MessagePart>
}

/** Results by the ids of calls; those without one answer the calls before them in their order. */
export function pairedCalls(messages: readonly Message[]): Paired {
  const resultOf = new Map<ToolCall, ToolResult>()
  const taken = new Set<MessagePart>()
  let waiting: ToolCall[] = []
  for (const { role, parts } of messages) {
    const isAnswered = parts.some(({ kind }) => kind === 'result')
    // Calls that nobody answered before somebody said something else.
    if (!isAnswered && role !== 'assistant') waiting = []
    for (const part of parts) {
      if (part.kind === 'call') waiting.push(part)
      if (part.kind !== 'result') continue
      const call = waiting.find(({ id, name }) =>
        part.id !== undefined && id !== undefined
          ? id === part.id
          : part.name === undefined || part.name === name,
      )
      if (!call) continue
      waiting = waiting.filter((each) => each !== call)
      resultOf.set(call, part)
      taken.add(part)
    }
  }
  return { resultOf, taken }
}

/** What was said last in words. */
export function lastTextOf(messages: readonly Message[]): string | undefined {
  for (const { kind, ...part } of messages.flatMap(({ parts }) => parts).toReversed()) {
    if (kind === 'text' && 'text' in part && part.text !== '') return part.text
  }
  return undefined
}

function isLikeJson(text: string): boolean {
  return text.length <= longestText && /^\s*[[{]/.test(text)
}

/** Where an object has its messages; what is said to the model before them comes first. */
function lists(value: Fields): readonly unknown[] | undefined {
  const { messages, contents, choices, candidates, generations, output, prompt } = value
  const system = value.system ?? value.systemInstruction ?? value.system_instruction
  const before = system === undefined || system === null ? [] : [systemOf(system)]
  if (Array.isArray(messages)) return [...before, ...messages]
  if (Array.isArray(contents)) return [...before, ...contents]
  if (Array.isArray(prompt)) return [...before, ...prompt]
  if (Array.isArray(choices)) return choices
  if (Array.isArray(candidates)) return candidates
  if (Array.isArray(generations)) return generations
  // Of OpenAI's responses, and of Bedrock.
  if (Array.isArray(output)) return output
  if (isJsonObject(output) && isJsonObject(output.message)) return [output.message]
  return isJsonObject(value.message) ? [value.message] : undefined
}

function systemOf(system: unknown): Fields {
  if (isJsonObject(system) && Array.isArray(system.parts)) return { role: 'system', ...system }
  return { role: 'system', content: system }
}

/** All of a list must be messages, of which what is within lists in it counts as well. */
function listOf(list: readonly unknown[]): readonly Message[] | undefined {
  const messages: Message[] = []
  for (const item of list) {
    const found = Array.isArray(item) ? listOf(item) : one(item)
    if (!found) return undefined
    messages.push(...found)
  }
  return messages.length > 0 ? messages : undefined
}

function one(item: unknown): readonly Message[] | undefined {
  if (!isJsonObject(item)) return undefined
  // Choices, candidates and generations have it inside.
  for (const inner of [item.message, item.content]) {
    const found = isJsonObject(inner) && !('role' in item) ? messageOf(inner) : undefined
    if (found) return [found]
  }
  const message = messageOf(item)
  return message && [message]
}

function messageOf(value: Fields): Message | undefined {
  const { role, content, parts, type } = value
  if (typeof role === 'string') {
    const isMessage = 'content' in value || Array.isArray(parts) || Array.isArray(value.tool_calls)
    if (!isMessage) return undefined
    const audio = isJsonObject(value.audio) ? spokenOf(value.audio) : []
    return {
      role,
      parts: [...contentOf(parts ?? content, role, value), ...audio, ...callsOf(value)],
    }
  }
  // LangChain writes classes.
  if (value.lc !== undefined && Array.isArray(value.id) && isJsonObject(value.kwargs)) {
    const name = String(value.id.at(-1))
    const found = /^(\w+?)Message(Chunk)?$/.exec(name)?.[1]
    return found && messageOf({ role: roleOf(found.toLowerCase()), ...value.kwargs })
      ? messageOf({ ...value.kwargs, role: roleOf(found.toLowerCase()) })
      : undefined
  }
  if (typeof type !== 'string') return undefined
  if (langChainTypes.has(type)) {
    const given = isJsonObject(value.data) ? value.data : value
    return 'content' in given ? messageOf({ ...given, role: roleOf(type) }) : undefined
  }
  // Items of OpenAI's responses stand beside messages.
  if (!responseItems.has(type)) return undefined
  const isResult = type.endsWith('_output')
  return { role: isResult ? 'tool' : 'assistant', parts: [partOf(value)] }
}

const langChainTypes: ReadonlySet<string> = new Set(['human', 'ai', 'system', 'tool', 'function'])
const responseItems: ReadonlySet<string> = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'reasoning',
])

function roleOf(type: string): string {
  return { human: 'user', ai: 'assistant' }[type] ?? type
}

function contentOf(content: unknown, role: string, message: Fields): readonly MessagePart[] {
  if (content === null || content === undefined || content === '') return []
  const isResult = role === 'tool' || role === 'function'
  if (isResult && !Array.isArray(content)) {
    const name = typeof message.name === 'string' ? message.name : undefined
    return [{ kind: 'result', name, value: parsed(content), id: resultId(message) }]
  }
  return (Array.isArray(content) ? content : [content]).flatMap((part) => {
    return isJsonObject(part) && typeof part.type === 'string' && /^step-/.test(part.type)
      ? []
      : [partOf(part)]
  })
}

/** Calls that stand beside the content. */
function callsOf(message: Fields): readonly MessagePart[] {
  const { tool_calls: calls, function_call: single } = message
  const given = [...(Array.isArray(calls) ? calls : []), ...(isJsonObject(single) ? [single] : [])]
  return given.filter(isJsonObject).map((call) => {
    return callOf(isJsonObject(call.function) ? { ...call, ...call.function } : call)
  })
}

function callOf(call: Fields): MessagePart {
  const given = call.arguments ?? call.args ?? call.input
  return { kind: 'call', name: nameOf(call) ?? 'a tool', given: parsed(given), id: callId(call) }
}

function callId({ call_id, toolCallId, tool_call_id, toolUseId, id }: Fields): string | undefined {
  return textAmong(call_id, toolCallId, tool_call_id, toolUseId, id)
}

function resultId({ tool_use_id, ...result }: Fields): string | undefined {
  return textAmong(tool_use_id) ?? callId(result)
}

function textAmong(...values: readonly unknown[]): string | undefined {
  return values.find((each) => typeof each === 'string') as string | undefined
}

/** Sound that was said, and the words of it. */
function spokenOf(audio: Fields): readonly MessagePart[] {
  const media = mediaOf({ type: 'input_audio', input_audio: audio })
  const words = typeof audio.transcript === 'string' ? audio.transcript : ''
  return [
    ...(media ? [media] : []),
    ...(words === '' ? [] : [{ kind: 'text', text: words } as const]),
  ]
}

function nameOf({ name, toolName, tool_name }: Fields): string | undefined {
  return textAmong(name, toolName, tool_name)
}

function partOf(part: unknown): MessagePart {
  if (typeof part === 'string') return { kind: 'text', text: part }
  if (!isJsonObject(part)) return { kind: 'other', value: part }
  const type = String(part.type ?? '').replaceAll('-', '_')
  if (/^(tool_use|tool_call|server_tool_use|function_call|custom_tool_call)$/.test(type)) {
    return callOf(part)
  }
  if (/^(tool_result|tool_call_response|(function|custom_tool)_call(_output)?)$/.test(type)) {
    return resultOf(part)
  }
  if (/^(reasoning|thinking)$/.test(type)) return { kind: 'thought', text: textOf(part) }
  for (const name of ['functionCall', 'function_call', 'toolUse'] as const) {
    if (isJsonObject(part[name])) return callOf(part[name])
  }
  for (const name of ['functionResponse', 'function_response', 'toolResult'] as const) {
    if (isJsonObject(part[name])) return resultOf(part[name])
  }
  // The AI SDK names the tool in the type, and has call and result in one.
  const tool = /^tool_(.+)$/.exec(type)?.[1]
  if (tool && 'input' in part) {
    return 'output' in part && part.output !== undefined
      ? { kind: 'result', name: tool, value: part.output }
      : { kind: 'call', name: tool, given: part.input, id: callId(part) }
  }
  const media = mediaOf(part)
  if (media) return media
  if (typeof part.text === 'string')
    return { kind: part.thought === true ? 'thought' : 'text', text: part.text }
  if (type === 'text' && typeof part.content === 'string')
    return { kind: 'text', text: part.content }
  if (typeof part.refusal === 'string') return { kind: 'text', text: part.refusal }
  return { kind: 'other', value: part }
}

function resultOf(part: Fields): MessagePart {
  const value = part.result ?? part.response ?? part.output ?? part.content
  const texts = Array.isArray(value)
    ? value.map((each) =>
        isJsonObject(each) && typeof each.text === 'string' ? each.text : undefined,
      )
    : []
  const isText = texts.length > 0 && texts.every((text) => text !== undefined)
  const shown = isText ? texts.join('\n') : parsed(value)
  return { kind: 'result', name: nameOf(part), value: shown, id: resultId(part) }
}

function textOf(part: Fields): string {
  for (const text of [part.text, part.content, part.thinking]) {
    if (typeof text === 'string') return text
  }
  const { summary } = part
  if (!Array.isArray(summary)) return ''
  return summary.flatMap((each) => (isJsonObject(each) ? [String(each.text ?? '')] : [])).join('\n')
}

/** Arguments and results are often the text of JSON; models may write other texts. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string' || !isLikeJson(text)) return text
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}
