import type { ComponentChildren } from 'preact'
import { ServiceError } from '../service/client.ts'
import { Sketch, type SketchKind } from './sketch.tsx'

/** What went wrong and what to do about it. */
export function Failure({
  error,
  retry,
  verb = 'Try again',
}: {
  readonly error: Error
  readonly retry?: () => void
  /** On the button that does it. */
  readonly verb?: string
}) {
  const hint = error instanceof ServiceError ? error.hint : undefined
  return (
    <div class="notice failure" role="alert">
      <p>{error.message}</p>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          {verb}
        </button>
      )}
    </div>
  )
}

/** A part of the page that the service does not have: usually another version of it has begun meanwhile. */
export function PartFailure({ what }: { readonly what: string }) {
  const text = `This page is older than the service, which has ${what} in another version.`
  return (
    <Failure
      error={new Error(text)}
      retry={() => window.location.reload()}
      verb="Reload the page"
    />
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
