/** JSON as a tree that opens step by step, with search, copies and long texts cut visibly. */
import { useState } from 'preact/hooks'
import { isObject, type Message, messagesOf } from './format.ts'

/** Longer texts and lists show so much first. */
const cutText = 2000
const cutList = 100

export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const messages = messagesOf(value)
  const [isRaw, setRaw] = useState(false)
  const [wanted, setWanted] = useState('')
  if (value === null || value === undefined) return <p class="hint">Nothing</p>
  const isText = typeof value === 'string'
  return (
    <section class="json" aria-label={label}>
      <div class="json-tools">
        {!isText && (isRaw || !messages) && (
          <input
            type="search"
            placeholder="Find in it"
            aria-label={`Find in ${label}`}
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
        {messages && (
          <button type="button" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            JSON
          </button>
        )}
        <Copy text={() => (isText ? value : JSON.stringify(value, undefined, 2))} />
      </div>
      {messages && !isRaw ? (
        <Messages messages={messages} />
      ) : isText ? (
        <LongText text={value} />
      ) : (
        <Node value={value} depth={0} wanted={wanted.toLowerCase()} />
      )}
    </section>
  )
}

function Messages({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <ol class="messages">
      {messages.map(({ role, content }, i) => (
        <li key={i} class={`message ${role}`}>
          <strong>{role}</strong>
          {typeof content === 'string' ? (
            <LongText text={content} />
          ) : (
            <Node value={content} depth={0} wanted="" />
          )}
        </li>
      ))}
    </ol>
  )
}

export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isCut = text.length > cutText && !isWhole
  return (
    <div class="text">
      <pre>{isCut ? text.slice(0, cutText) : text}</pre>
      {isCut && (
        <button type="button" onClick={() => setWhole(true)}>
          … {(text.length - cutText).toLocaleString()} more characters
        </button>
      )}
    </div>
  )
}

interface NodeProps {
  readonly name?: string
  readonly value: unknown
  readonly depth: number
  /** Lower case; parts without it are left out. */
  readonly wanted: string
}

/** How deep a tree stands open at first. */
const openDepth = 2

function Node({ name, value, depth, wanted }: NodeProps) {
  const [isOpen, setOpen] = useState(depth < openDepth)
  const [shown, setShown] = useState(cutList)
  const isList = Array.isArray(value)
  const entries: readonly (readonly [string, unknown])[] | undefined = isList
    ? value.map((item, i) => [String(i), item] as const)
    : isObject(value)
      ? Object.entries(value)
      : undefined
  const title = name === undefined ? null : <span class="json-name">{name}: </span>
  if (!entries) {
    return (
      <div class="json-leaf">
        {title}
        <Leaf value={value} />
      </div>
    )
  }
  const found = wanted === '' ? entries : entries.filter(([key, item]) => has(key, item, wanted))
  const isShown = isOpen || wanted !== ''
  return (
    <div class="json-branch">
      <button type="button" class="plain" aria-expanded={isShown} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">{isShown ? '▾' : '▸'} </span>
        {title}
        <span class="hint">{isList ? `${entries.length} items` : `${entries.length} fields`}</span>
      </button>
      {isShown && (
        <div class="json-parts">
          {found.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} depth={depth + 1} wanted={wanted} />
          ))}
          {found.length > shown && (
            <button type="button" onClick={() => setShown(shown + 10 * cutList)}>
              {(found.length - shown).toLocaleString()} more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value !== 'string') return <span class="json-other">{String(value)}</span>
  return value.length > 120 || value.includes('\n') ? (
    <LongText text={value} />
  ) : (
    <span class="json-text">{JSON.stringify(value)}</span>
  )
}

function has(key: string, value: unknown, wanted: string): boolean {
  if (key.toLowerCase().includes(wanted)) return true
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text?.toLowerCase().includes(wanted) ?? false
}

function Copy({ text }: { readonly text: () => string }) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text())
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {isDone ? 'Copied' : 'Copy'}
    </button>
  )
}
