/** Text that people or models wrote: Markdown where it is some, folded where it is long. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLoaded } from '../service/load.ts'
import { LongText } from './long-text.tsx'
import { nothingSought, type Sought } from './marked.tsx'

/** Longer texts are shown as they are, in parts. */
const longestMarkdown = 50_000

/** Headings, lists, quotes, fences, tables, and what is strong, code, a link or a picture. */
const signs =
  /^#{1,6} \S|^\s*(?:[-*+]|\d+[.)]) +\S|^> |^ {0,3}(?:```|~~~)|^\|.*\|\s*$|\*\*[^*\n]+\*\*|`[^`\n]+`|!?\[[^\]\n]*\]\([^)\n]+\)/m

export function isMarkdown(text: string): boolean {
  return text.length <= longestMarkdown && signs.test(text)
}

export interface RichTextProps {
  readonly text: string
  readonly sought?: readonly Sought[]
}

export function RichText({ text, sought = nothingSought }: RichTextProps) {
  const isRich = isMarkdown(text)
  const library = useLoaded(isRich ? 'markdown' : undefined, () => import('./markdown.tsx'))
  if (!isRich || !library.data) return <LongText text={text} sought={sought} />
  const { Markdown } = library.data
  return (
    <Folded isOpen={sought.length > 0}>
      <Markdown text={text} sought={sought} />
    </Folded>
  )
}

/** In pixels; a little more is shown rather than folded. */
const foldedHeight = 420
const spare = 120

/** What is long is folded, and opened by a button. */
export function Folded({
  isOpen: isOpened = false,
  children,
}: {
  readonly isOpen?: boolean
  readonly children: ComponentChildren
}) {
  const place = useRef<HTMLDivElement>(null)
  const [isLong, setLong] = useState(false)
  const [isOpen, setOpen] = useState(isOpened)
  useLayoutEffect(() => {
    const height = place.current?.scrollHeight ?? 0
    setLong(height > foldedHeight + spare)
  }, [children])
  return (
    <>
      <div
        ref={place}
        class={isLong && !isOpen ? 'folded' : undefined}
        style={isLong && !isOpen ? { maxHeight: `${foldedHeight}px` } : undefined}
      >
        {children}
      </div>
      {isLong && (
        <button type="button" class="fold-more" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'Show all of it'}
        </button>
      )}
    </>
  )
}
