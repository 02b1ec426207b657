/** The head of a page about one thing, or several: where it belongs, what it is, what can be done. */
import type { ComponentChildren } from 'preact'
import { Link } from './link.tsx'

export interface PageHeadProps {
  /** The list that it is from. */
  readonly from: { readonly title: string; readonly path: string }
  readonly title: string
  readonly facts?: ComponentChildren
  /** Tools at its end. */
  readonly children?: ComponentChildren
}

export function PageHead({ from, title, facts, children }: PageHeadProps) {
  return (
    <header class="page-head">
      <div class="titles">
        <p class="crumbs">
          <Link to={from.path}>{from.title}</Link>
        </p>
        <h1 title={title}>{title}</h1>
        {facts && <p class="hint facts">{facts}</p>}
      </div>
      <div class="tools">{children}</div>
    </header>
  )
}
