/** A value of JSON, with search and copies: a conversation, a text, or a tree. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { ExactNumber, writeExactJson } from '../../json/exact-number.ts'
import { Messages } from './conversation.tsx'
import { CopyButton } from './copy-button.tsx'
import { number } from './format.ts'
import { Finder, JsonTree } from './json-tree.tsx'
import { LongText } from './long-text.tsx'
import { nothingSought, type Sought } from './marked.tsx'
import { conversationOf } from './message-forms.ts'
import { isMarkdown, RichText } from './rich-text.tsx'

const typingMs = 150

/** What has fewer characters is seen at a glance. */
const searchable = 500

function isLong(value: unknown): boolean {
  let left = searchable
  // No more of it is looked at than tells.
  const isMore = (part: unknown): boolean => {
    if (typeof part === 'object' && part !== null && !(part instanceof ExactNumber)) {
      return Object.entries(part).some(([name, item]) => {
        left -= name.length
        return isMore(item)
      })
    }
    left -= typeof part === 'string' ? part.length : String(part).length
    return left < 0
  }
  return isMore(value)
}

export interface JsonViewProps {
  readonly value: unknown
  readonly label: string
  /** What was looked for, which is marked. */
  readonly sought?: readonly Sought[]
}

export function JsonView({ value, label, sought = nothingSought }: JsonViewProps) {
  const messages = useMemo(() => conversationOf(value), [value])
  const [isRaw, setRaw] = useState(false)
  const [written, setWritten] = useState('')
  const [wanted, setWanted] = useState('')
  useEffect(() => {
    const timer = window.setTimeout(() => setWanted(written.trim().toLowerCase()), typingMs)
    return () => window.clearTimeout(timer)
  }, [written])
  const finder = useMemo(() => new Finder(wanted), [wanted, value])
  if (value === null || value === undefined) return <p class="hint">Nothing</p>
  const isText = typeof value === 'string'
  const isChat = messages !== undefined && !isRaw
  const isRich = isText && messages === undefined && isMarkdown(value)
  const marked = wanted === '' ? sought : [{ part: wanted }]
  const isSearchable = messages !== undefined || isLong(value)
  return (
    <section
      class="json"
      aria-label={label}
      // Where values of it are found in records, for filters by them.
      data-field={/^\w+$/.test(label) ? label : undefined}
    >
      <div class="json-tools">
        {isSearchable && (
          <>
            {wanted !== '' && (
              <span class="hint" role="status">
                {number(isText ? finder.placesIn(value) : finder.countIn(value))} found
              </span>
            )}
            <input
              type="search"
              placeholder="Find in it"
              aria-label={`Find in ${label}`}
              value={written}
              onInput={(event) => setWritten(event.currentTarget.value)}
            />
          </>
        )}
        {(messages || isRich) && (
          <button type="button" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            {isRich ? 'As written' : 'JSON'}
          </button>
        )}
        <CopyButton text={() => (isText ? value : writeExactJson(value, '  '))} />
      </div>
      {isChat ? (
        <Messages messages={messages} sought={marked} />
      ) : isRich && !isRaw ? (
        <RichText text={value} sought={marked} />
      ) : isText ? (
        <LongText text={value} sought={marked} />
      ) : (
        <JsonTree value={value} finder={finder} sought={marked} />
      )}
    </section>
  )
}
