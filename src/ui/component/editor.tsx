/** The editor of queries within the page; what it is made of is loaded when it is first shown. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Editor as EditorHandle, EditorOptions } from '../editor/create-editor.ts'
import { loadPersistently } from './lazy.tsx'
import { PartFailure } from './notice.tsx'

/** Less room would not look like a place to write in. */
const fewestLines = 5

export interface EditorProps extends EditorOptions {
  /** Of what is written now: room is made for them. */
  readonly lines: number
  /** Gets what stands for the editor once it is there, and nothing when it is gone. */
  readonly onReady: (editor: EditorHandle | undefined) => void
}

/** Keeps its own text after the first: `EditorHandle.replace` changes it from outside. */
export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const [isMissing, setMissing] = useState(false)
  useEffect(() => {
    let editor: EditorHandle | undefined
    let isGone = false
    loadPersistently(() => import('../editor/create-editor.ts')).then(
      ({ createEditor }) => {
        if (isGone || !host.current) return
        const { label, text, placeholder } = latest.current
        editor = createEditor(host.current, {
          label,
          text,
          placeholder,
          onChange: (next) => latest.current.onChange(next),
          onChecked: (checkedText, checked) => latest.current.onChecked(checkedText, checked),
          onRun: () => latest.current.onRun(),
        })
        latest.current.onReady(editor)
      },
      () => setMissing(true),
    )
    return () => {
      isGone = true
      editor?.destroy()
      latest.current.onReady(undefined)
    }
  }, [])
  if (isMissing) return <PartFailure what="the editor" />
  const lines = String(Math.max(fewestLines, props.lines + 1))
  return <div class="editor" ref={host} style={{ '--editor-lines': lines }} />
}
