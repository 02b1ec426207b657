/** The frame of a list in the settings: its title, what can be added, and how it loads. */
import type { ComponentChildren } from 'preact'
import { Failure, Loading } from '../component/notice.tsx'
import type { Loaded } from '../service/load.ts'

export function SettingsList<Item>({
  title,
  hint,
  add,
  loaded,
  empty,
  children,
}: {
  readonly title: string
  readonly hint?: ComponentChildren
  /** A button that begins a new one. */
  readonly add?: ComponentChildren
  readonly loaded: Loaded<readonly Item[]>
  readonly empty: string
  readonly children: (items: readonly Item[]) => ComponentChildren
}) {
  const { data, error, isLoading, reload } = loaded
  return (
    <section class="settings-part" aria-label={title}>
      <header class="page-head">
        <h2>{title}</h2>
        {add}
      </header>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {error && <Failure error={error} retry={reload} />}
      {!data && isLoading && <Loading what={title.toLowerCase()} />}
      {data && (data.length === 0 ? <p class="none">{empty}</p> : children(data))}
    </section>
  )
}
