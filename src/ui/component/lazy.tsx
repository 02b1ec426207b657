/** Parts of the page that are loaded when they are first shown, so that the first load stays small. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { awaitService } from '../service/connection.ts'
import { Failure, Loading } from './notice.tsx'

type Component<Props> = (props: Props) => ComponentChildren

/** The service may be away for a while; once it answers, it has what it had. */
async function loadPersistently<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load()
  } catch {
    await awaitService()
    return load()
  }
}

/** @param what is shown while it loads: "the query page" */
export function lazy<Props extends object>(
  what: string,
  load: () => Promise<Component<Props>>,
): Component<Props> {
  let loaded: Component<Props> | undefined
  return function Lazy(props: Props) {
    const [isLoaded, setLoaded] = useState(loaded !== undefined)
    const [error, setError] = useState<Error>()
    useEffect(() => {
      if (loaded) return
      loadPersistently(load).then(
        (component) => {
          loaded = component
          setLoaded(true)
        },
        () => setError(new Error(`${what} could not be loaded: reload the page`)),
      )
    }, [])
    if (error) return <Failure error={error} retry={() => window.location.reload()} />
    const Shown = loaded
    return isLoaded && Shown ? <Shown {...props} /> : <Loading what={what} />
  }
}
