/** Keys that work on every page. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { isInDialog, isTyping } from '../component/typing.ts'
import { session } from '../service/session.ts'
import { goTo, parts, pathOf } from '../state/location.ts'
import { GoTo } from './go-to.tsx'
import { KeyHelp } from './key-help.tsx'

/** How long after `g` the letter of a page may come. */
const secondKeyMs = 1500

export function PageKeys() {
  const [open, setOpen] = useState<'go' | 'help'>()
  const prefixAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey
      if (isCommand && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setOpen('go')
        return
      }
      if (isCommand || event.altKey || isTyping(event) || isInDialog()) return
      const isSecond = event.timeStamp - prefixAt.current < secondKeyMs
      prefixAt.current = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
      const target = isSecond ? targetOf(event.key) : undefined
      if (target !== undefined) goTo(target)
      else if (event.key === '?') setOpen('help')
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
  const close = () => setOpen(undefined)
  if (open === 'go') return <GoTo onClose={close} onHelp={() => setOpen('help')} />
  return open === 'help' ? <KeyHelp onClose={close} /> : null
}

const sections = new Map([
  ['l', 'logs'],
  ['e', 'experiments'],
  ['d', 'datasets'],
  ['q', 'query'],
])

function targetOf(key: string): string | undefined {
  const name = session.value?.organization.name ?? ''
  if (key === 'p') return '/app'
  if (key === 's') return pathOf('app', name, 'settings')
  const section = sections.get(key)
  const [, , p, project] = parts.value
  if (section === undefined || p !== 'p' || project === undefined) return undefined
  return pathOf('app', name, 'p', project, section)
}
