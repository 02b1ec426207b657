import type { ComponentChildren } from 'preact'
import { Confirm } from '../component/dialog.tsx'
import type { Loaded } from '../service/load.ts'
import { remove } from '../service/people.ts'
import { closeWindow } from '../state/opened.ts'

export interface RemovalProps {
  readonly title: string
  readonly verb?: 'Delete' | 'Revoke'
  /** Where it is stored: `/v1/group`. */
  readonly path: string
  readonly id: string
  /** What it is a line of. */
  readonly list: Pick<Loaded<unknown>, 'reload'>
  /** What comes of it. */
  readonly children?: ComponentChildren
}

/** Asks before a line of a list is removed; the list is read again then. */
export function Removal({ title, verb = 'Delete', path, id, list, children }: RemovalProps) {
  return (
    <Confirm
      title={title}
      verb={verb}
      onClose={closeWindow}
      onConfirm={async () => {
        await remove(path, id)
        list.reload()
      }}
    >
      {children}
    </Confirm>
  )
}
