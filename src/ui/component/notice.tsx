import type { ComponentChildren } from 'preact'
import { ServiceError } from '../service/client.ts'
import { Sketch, type SketchKind } from './sketch.tsx'

/** What went wrong and what to do about it. */
export function Failure({
  error,
  retry,
  place,
}: {
  readonly error: Error
  readonly retry?: () => void
  /** Where in a text it went wrong. */
  readonly place?: string
}) {
  const hint = error instanceof ServiceError ? error.hint : undefined
  return (
    <div class="notice failure" role="alert">
      <p>
        {place !== undefined && <strong>{place}: </strong>}
        {error.message}
      </p>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Nothing is here yet: says why, and what to do next. */
export function Empty({
  title,
  sketch,
  children,
}: {
  readonly title: string
  /** What will be there. */
  readonly sketch?: SketchKind
  readonly children?: ComponentChildren
}) {
  return (
    <section class="empty">
      {sketch && <Sketch kind={sketch} />}
      <h2>{title}</h2>
      {children}
    </section>
  )
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what}…
    </p>
  )
}
