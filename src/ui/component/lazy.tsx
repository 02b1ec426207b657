/** Parts of the page that are loaded when they are first shown, so that the first load stays small. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { awaitService } from '../service/connection.ts'
import { Loading, PartFailure } from './notice.tsx'

type Component<Props> = (props: Props) => ComponentChildren

/** The service may be away for a while; once it answers, it has what it had, or another version. */
export async function loadPersistently<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load()
  } catch {
    await awaitService()
    return load()
  }
}

export interface LazyComponent<Props> extends Component<Props> {
  /** Loads it before it is shown, where it is known that it will be. */
  begin(): void
}

/** @param what is shown while it loads: "the query page" */
export function lazy<Props extends object>(
  what: string,
  load: () => Promise<Component<Props>>,
): LazyComponent<Props> {
  let loaded: Component<Props> | undefined
  function Lazy(props: Props) {
    const [isLoaded, setLoaded] = useState(loaded !== undefined)
    const [isGone, setGone] = useState(false)
    useEffect(() => {
      // It may have come since this was drawn.
      if (loaded) return setLoaded(true)
      loadPersistently(load).then(
        (component) => {
          loaded = component
          setLoaded(true)
        },
        () => setGone(true),
      )
    }, [])
    if (isGone) return <PartFailure what={what} />
    const Shown = loaded
    return isLoaded && Shown ? <Shown {...props} /> : <Loading what={what} />
  }
  const begin = () => {
    load().then(
      (component) => {
        loaded = component
      },
      // It is tried again when it is shown.
      () => undefined,
    )
  }
  return Object.assign(Lazy, { begin })
}
