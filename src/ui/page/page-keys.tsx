/** Keys that work on every page. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isInDialog, isTyping } from '../component/typing.ts'
import { session } from '../service/session.ts'
import { goTo, parts, pathOf } from '../state/location.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { sections } from '../state/sections.ts'
import { GoTo } from './go-to.tsx'
import { KeyHelp } from './key-help.tsx'

/** How long after `g` the letter of a page may come. */
const secondKeyMs = 1500

export function PageKeys() {
  const [isGoing, setGoing] = useState(false)
  const prefixAt = useRef(Number.NEGATIVE_INFINITY)
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey
      if (isCommand && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setGoing(true)
        return
      }
      if (isCommand || event.altKey || isTyping(event) || isInDialog()) return
      const isSecond = event.timeStamp - prefixAt.current < secondKeyMs
      prefixAt.current = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
      const target = isSecond ? targetOf(event.key) : undefined
      if (target !== undefined) goTo(target)
      else if (event.key === '?') openWindow('keys')
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
  if (isGoing) return <GoTo onClose={() => setGoing(false)} onHelp={() => openWindow('keys')} />
  return openedOf('keys') ? <KeyHelp onClose={closeWindow} /> : null
}

function targetOf(key: string): string | undefined {
  const name = session.value?.organization.name ?? ''
  if (key === 'p') return '/app'
  if (key === 's') return pathOf('app', name, 'settings')
  const section = sections.find((each) => each.startsWith(key))
  const [, , p, project] = parts.value
  if (section === undefined || p !== 'p' || project === undefined) return undefined
  return pathOf('app', name, 'p', project, section)
}
