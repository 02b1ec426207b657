import { useState } from 'preact/hooks'
import { tellFailure } from './toast.tsx'

/** Puts a text into the clipboard, and says so. */
export function CopyButton({
  text,
  label = 'Copy',
}: {
  readonly text: string | (() => string)
  readonly label?: string
}) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    if (!(await copyText(typeof text === 'string' ? text : text()))) return
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {isDone ? 'Copied' : label}
    </button>
  )
}

/** Whether it could be done; browsers keep the clipboard from pages without TLS, but on localhost. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    tellFailure('The browser does not let this page write to the clipboard: use HTTPS or localhost')
    return false
  }
}
