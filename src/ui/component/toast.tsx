/** Short news at the edge of the page: what was done, or what went wrong in the background. */
import { signal } from '@preact/signals'
import { Icon } from './icon.tsx'
import { Link } from './link.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isFailure: boolean
  readonly action: ToastAction | undefined
}

export interface ToastAction {
  /** "Undo" */
  readonly label?: string
  readonly onChoose?: () => void
  /** Where what was done can be seen. */
  readonly link?: { readonly title: string; readonly to: string }
}

const toasts = signal<readonly Toast[]>([])
let lastId = 0

/** What went well is gone by itself; what has something to do stays a little longer. */
const shownMs = 5000
const shownWithActionMs = 12_000

/** More would cover the page: the oldest go. */
const mostToasts = 5

export function tell(text: string, action?: ToastAction): void {
  const id = add(text, false, action)
  window.setTimeout(() => dismiss(id), action ? shownWithActionMs : shownMs)
}

/** Stays until it is closed. */
export function tellFailure(error: unknown): void {
  add(error instanceof Error ? error.message : String(error), true, undefined)
}

function add(text: string, isFailure: boolean, action: ToastAction | undefined): number {
  lastId++
  toasts.value = [...toasts.value, { id: lastId, text, isFailure, action }].slice(-mostToasts)
  return lastId
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** Stands once in the frame of the page. */
export function Toasts() {
  return (
    <div class="toasts">
      <div role="status">{shown(false)}</div>
      <div role="alert">{shown(true)}</div>
    </div>
  )
}

function shown(failures: boolean) {
  return toasts.value
    .filter(({ isFailure }) => isFailure === failures)
    .map(({ id, text, isFailure, action }) => (
      <div key={id} class={isFailure ? 'toast failure' : 'toast'}>
        <p>{text}</p>
        {action?.link && <Link to={action.link.to}>{action.link.title}</Link>}
        {action?.onChoose && (
          <button
            type="button"
            onClick={() => {
              dismiss(id)
              action.onChoose?.()
            }}
          >
            {action.label}
          </button>
        )}
        <button type="button" class="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
          <Icon name="close" />
        </button>
      </div>
    ))
}
