/** JSON as a tree that opens step by step, with long lists and texts cut visibly. */
import { useState } from 'preact/hooks'
import { ExactNumber } from '../../json/exact-number.ts'
import { counted, isObject, number } from './format.ts'
import { Icon } from './icon.tsx'
import { LongText } from './long-text.tsx'
import { Marked, nothingSought, type Sought } from './marked.tsx'
import { Media } from './media.tsx'
import { attachmentOf, mediaOfText } from './media-forms.ts'

/** Longer lists show so much first. */
const cutList = 100

/** Finds which parts of a value have a text in a name or a value; each part is looked at once. */
export class Finder {
  readonly wanted: string
  readonly #counts = new WeakMap<object, number>()

  /** @param wanted lower case */
  constructor(wanted: string) {
    this.wanted = wanted
  }

  /** Names and values that have it, in all of the value. */
  countIn(value: unknown): number {
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber) {
      return String(value).toLowerCase().includes(this.wanted) ? 1 : 0
    }
    const known = this.#counts.get(value)
    if (known !== undefined) return known
    let count = 0
    for (const [name, item] of Object.entries(value)) {
      if (!Array.isArray(value) && name.toLowerCase().includes(this.wanted)) count++
      count += this.countIn(item)
    }
    this.#counts.set(value, count)
    return count
  }

  /** How often it is in a text. */
  placesIn(text: string): number {
    const lower = text.toLowerCase()
    let count = 0
    for (let at = lower.indexOf(this.wanted); at >= 0; count++) {
      at = lower.indexOf(this.wanted, at + this.wanted.length)
    }
    return count
  }

  isIn(name: string, value: unknown, isNamed: boolean): boolean {
    return (isNamed && name.toLowerCase().includes(this.wanted)) || this.countIn(value) > 0
  }
}

/** A value without tools around it. */
export function JsonTree({
  value,
  finder = new Finder(''),
  sought = nothingSought,
}: {
  readonly value: unknown
  readonly finder?: Finder
  readonly sought?: readonly Sought[]
}) {
  return <Node value={value} depth={0} finder={finder} sought={sought} />
}

interface NodeProps {
  readonly name?: string
  readonly value: unknown
  readonly depth: number
  /** Parts in which it finds nothing are left out. */
  readonly finder: Finder
  readonly sought: readonly Sought[]
}

/** How deep a tree stands open at first. */
const openDepth = 2

function Node({ name, value, depth, finder, sought }: NodeProps) {
  const [isOpen, setOpen] = useState(depth < openDepth)
  const [shown, setShown] = useState(cutList)
  const isList = Array.isArray(value)
  const title = name !== undefined && (
    <span class="json-name">
      <Marked text={name} sought={sought} />:{' '}
    </span>
  )
  if (!isList && !isObject(value)) {
    return (
      <div class="json-leaf" data-step={name} data-value={shortJson(value)}>
        {title}
        <Leaf value={value} sought={sought} />
      </div>
    )
  }
  const attached = isList ? undefined : attachmentOf(value)
  if (attached) {
    return (
      <div class="json-leaf" data-step={name}>
        {title}
        <Media part={attached} />
      </div>
    )
  }
  const entries = Object.entries(value)
  const isFiltered = finder.wanted !== ''
  const found = isFiltered
    ? entries.filter(([key, item]) => finder.isIn(key, item, !isList))
    : entries
  const isShown = isOpen || isFiltered
  const size = counted(entries.length, isList ? 'item' : 'field')
  return (
    <div class="json-branch" data-step={name} data-list={isList ? '' : undefined}>
      <button type="button" class="plain" aria-expanded={isShown} onClick={() => setOpen(!isOpen)}>
        <Icon name={isShown ? 'down' : 'right'} />
        {title}
        <span class="hint">{size}</span>
      </button>
      {isShown && (
        <div class="json-parts">
          {found.slice(0, shown).map(([key, item]) => (
            <Node
              key={key}
              name={key}
              value={item}
              depth={depth + 1}
              finder={finder}
              sought={sought}
            />
          ))}
          {found.length > shown && (
            <button type="button" onClick={() => setShown(shown + 10 * cutList)}>
              {number(found.length - shown)} more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** Longer texts have a place of their own. */
const longestInLine = 120

/** For filters by the value; longer ones are none to filter by. */
function shortJson(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return undefined
  return String(value).length <= longestInLine ? JSON.stringify(value) : undefined
}

function Leaf({ value, sought }: { readonly value: unknown; readonly sought: readonly Sought[] }) {
  if (typeof value !== 'string') return <span class="json-other">{String(value)}</span>
  const media = value.startsWith('data:') ? mediaOfText(value) : undefined
  if (media) return <Media part={media} />
  return value.length > longestInLine || value.includes('\n') ? (
    <LongText text={value} sought={sought} />
  ) : (
    <span class="json-text">
      <Marked text={JSON.stringify(value)} sought={sought} />
    </span>
  )
}
