/**
 * Which window is open over the page. It is in the address as everything else is: `?open=new`, and
 * `?open=remove:<id>` where it is about one thing.
 */
import { openBeside, parameter, setParameters } from './location.ts'

export interface Opened<Kind extends string> {
  readonly kind: Kind
  /** Empty where the window is about no one thing. */
  readonly id: string
}

/** The open window, if it is one of these kinds: others belong to other parts of the page. */
export function openedOf<Kind extends string>(...kinds: readonly Kind[]): Opened<Kind> | undefined {
  const [, asked, id = ''] = /^([^:]*):?(.*)$/s.exec(parameter('open') ?? '') ?? []
  const kind = kinds.find((each) => each === asked)
  return kind === undefined ? undefined : { kind, id }
}

/** @param more other parts of the view that change with it */
export function openWindow(
  kind: string,
  id?: string,
  more: Readonly<Record<string, string | undefined>> = {},
): void {
  openBeside({ open: id === undefined ? kind : `${kind}:${id}`, ...more })
}

export function closeWindow(): void {
  setParameters({ open: undefined })
}
