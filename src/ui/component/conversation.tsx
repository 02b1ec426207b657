/** Messages to and from models, as a chat. */
import { parseExactly } from '../service/exact-json.ts'
import { isObject, type Message, messagesOf } from './format.ts'
import { JsonTree } from './json-tree.tsx'
import { LongText } from './long-text.tsx'
import type { Sought } from './marked.tsx'

/** A list of messages, an object that has one, a single message, or the choices of an answer. */
export function conversationOf(value: unknown): readonly Message[] | undefined {
  const listed = messagesOf(value)
  if (listed) return listed
  if (isMessage(value)) return [value]
  const choices = isObject(value) && Array.isArray(value.choices) ? value.choices : value
  if (!Array.isArray(choices) || choices.length === 0) return undefined
  const messages = choices.map((choice: unknown) => (isObject(choice) ? choice.message : undefined))
  return messages.every(isMessage) ? messages : undefined
}

/** Of a call of tools the content may be missing. */
function isMessage(value: unknown): value is Message {
  return (
    isObject(value) &&
    typeof value.role === 'string' &&
    ('content' in value || Array.isArray(value.tool_calls))
  )
}

export function Messages({
  messages,
  sought,
}: {
  readonly messages: readonly Message[]
  readonly sought: readonly Sought[]
}) {
  return (
    <ol class="messages">
      {messages.map((message, i) => (
        <li key={i} class={`message ${message.role}`}>
          <strong>{message.role}</strong>
          <Content content={message.content} sought={sought} />
          {toolCallsOf(message).map((call, place) => (
            <ToolCall key={place} name={call.name} given={call.given} />
          ))}
        </li>
      ))}
    </ol>
  )
}

function Content({
  content,
  sought,
}: {
  readonly content: unknown
  readonly sought: readonly Sought[]
}) {
  if (content === null || content === undefined || content === '') return null
  if (typeof content === 'string') return <LongText text={content} sought={sought} />
  if (!Array.isArray(content)) return <JsonTree value={content} sought={sought} />
  return content.map((part: unknown, i) => <Part key={i} part={part} sought={sought} />)
}

/** Parts as OpenAI and Anthropic have them; what is of another kind is shown as it is. */
function Part({ part, sought }: { readonly part: unknown; readonly sought: readonly Sought[] }) {
  if (typeof part === 'string') return <LongText text={part} sought={sought} />
  if (isObject(part)) {
    if (typeof part.text === 'string') return <LongText text={part.text} sought={sought} />
    if (part.type === 'tool_use') return <ToolCall name={String(part.name)} given={part.input} />
    if (part.type === 'tool_result') return <Content content={part.content} sought={sought} />
  }
  return <JsonTree value={part} sought={sought} />
}

function ToolCall({ name, given }: { readonly name: string; readonly given: unknown }) {
  return (
    <div class="tool-call">
      <span class="kind tool">calls {name}</span>
      <JsonTree value={given} />
    </div>
  )
}

interface Call {
  readonly name: string
  readonly given: unknown
}

function toolCallsOf(message: unknown): readonly Call[] {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return []
  return message.tool_calls.filter(isObject).map((call): Call => {
    const called = isObject(call.function) ? call.function : call
    return { name: String(called.name ?? 'a tool'), given: parsed(called.arguments) }
  })
}

/** Arguments are the text of JSON; models may write other texts. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}
