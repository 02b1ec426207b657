/** Messages to and from models, as a chat: tools that were called have their results beside them. */
import { useMemo } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'
import { JsonTree } from './json-tree.tsx'
import type { Sought } from './marked.tsx'
import { Media } from './media.tsx'
import {
  type Message,
  type MessagePart,
  type Paired,
  pairedCalls,
  type ToolCall,
} from './message-forms.ts'
import { RichText } from './rich-text.tsx'

export function Messages({
  messages,
  sought,
}: {
  readonly messages: readonly Message[]
  readonly sought: readonly Sought[]
}) {
  const paired = useMemo(() => pairedCalls(messages), [messages])
  return (
    <ol class="messages">
      {messages.map((message, i) => (
        <OneMessage key={i} message={message} paired={paired} sought={sought} />
      ))}
    </ol>
  )
}

interface Shown {
  readonly paired: Paired
  readonly sought: readonly Sought[]
}

function OneMessage({ message: { role, parts }, paired, sought }: Shown & { message: Message }) {
  const shown = parts.filter((part) => !paired.taken.has(part))
  // All of it stands beside the calls.
  if (shown.length === 0 && parts.length > 0) return null
  const texts = shown.flatMap((part) => (part.kind === 'text' ? part.text : []))
  return (
    <li class={`message ${role}`}>
      <div class="message-head">
        <strong>{role}</strong>
        {texts.length > 0 && <CopyButton text={() => texts.join('\n\n')} />}
      </div>
      {shown.map((part, place) => (
        <Part key={place} part={part} paired={paired} sought={sought} />
      ))}
    </li>
  )
}

function Part({ part, paired, sought }: Shown & { readonly part: MessagePart }) {
  switch (part.kind) {
    case 'text':
      return <RichText text={part.text} sought={sought} />
    case 'thought':
      return (
        <details class="thought">
          <summary>Reasoning</summary>
          <RichText text={part.text} sought={sought} />
        </details>
      )
    case 'call':
      return <Call call={part} paired={paired} sought={sought} />
    case 'result':
      return (
        <div class="tool-call">
          {part.name !== undefined && <span class="kind tool">result of {part.name}</span>}
          <ToolValue value={part.value} sought={sought} />
        </div>
      )
    case 'media':
      return <Media part={part} />
    case 'other':
      return <JsonTree value={part.value} sought={sought} />
  }
}

function Call({ call, paired, sought }: Shown & { readonly call: ToolCall }) {
  const result = paired.resultOf.get(call)
  return (
    <div class="tool-call beside-result">
      <div>
        <span class="kind tool">calls {call.name}</span>
        <ToolValue value={call.given} sought={sought} />
      </div>
      {result && (
        <div>
          <span class="kind tool">result</span>
          <ToolValue value={result.value} sought={sought} />
        </div>
      )}
    </div>
  )
}

function ToolValue({
  value,
  sought,
}: {
  readonly value: unknown
  readonly sought: readonly Sought[]
}) {
  return typeof value === 'string' ? (
    <RichText text={value} sought={sought} />
  ) : (
    <JsonTree value={value} sought={sought} />
  )
}
