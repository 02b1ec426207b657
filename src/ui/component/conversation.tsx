/** Messages to and from models, as a chat. */
import { JsonTree } from './json-tree.tsx'
import { LongText } from './long-text.tsx'
import type { Sought } from './marked.tsx'
import type { Message, MessagePart } from './message-forms.ts'

export function Messages({
  messages,
  sought,
}: {
  readonly messages: readonly Message[]
  readonly sought: readonly Sought[]
}) {
  return (
    <ol class="messages">
      {messages.map(({ role, parts }, i) => (
        <li key={i} class={`message ${role}`}>
          <strong>{role}</strong>
          {parts.map((part, place) => (
            <Part key={place} part={part} sought={sought} />
          ))}
        </li>
      ))}
    </ol>
  )
}

function Part({
  part,
  sought,
}: {
  readonly part: MessagePart
  readonly sought: readonly Sought[]
}) {
  switch (part.kind) {
    case 'text':
      return <LongText text={part.text} sought={sought} />
    case 'thought':
      return (
        <details class="thought">
          <summary>Reasoning</summary>
          <LongText text={part.text} sought={sought} />
        </details>
      )
    case 'call':
      return (
        <div class="tool-call">
          <span class="kind tool">calls {part.name}</span>
          <JsonTree value={part.given} sought={sought} />
        </div>
      )
    case 'result':
      return (
        <div class="tool-call">
          {part.name !== undefined && <span class="kind tool">result of {part.name}</span>}
          {typeof part.value === 'string' ? (
            <LongText text={part.value} sought={sought} />
          ) : (
            <JsonTree value={part.value} sought={sought} />
          )}
        </div>
      )
    case 'other':
      return <JsonTree value={part.value} sought={sought} />
  }
}
