/** Windows over the page, that are dealt with before one goes on. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from '../service/action.ts'
import { Failure } from './notice.tsx'

export interface DialogProps {
  readonly title: string
  /** Asked for by Escape, by a click beside it, or by its button. */
  readonly onClose: () => void
  readonly size?: 'small' | 'large'
  readonly children: ComponentChildren
}

/** Keeps the focus inside while it is open, and gives it back to where it was. */
export function Dialog({ title, onClose, size = 'small', children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const close = useRef(onClose)
  close.current = onClose
  // Before the next key is read: letters that are typed at once after the one that opened this are its own.
  useLayoutEffect(() => {
    const dialog = element.current
    if (!dialog) return
    const before = document.activeElement
    const onCancel = (event: Event) => {
      event.preventDefault()
      close.current()
    }
    const onPointerDown = (event: PointerEvent) => {
      if (event.target === dialog) close.current()
    }
    dialog.addEventListener('cancel', onCancel)
    dialog.addEventListener('pointerdown', onPointerDown)
    dialog.showModal()
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    return () => {
      dialog.removeEventListener('cancel', onCancel)
      dialog.removeEventListener('pointerdown', onPointerDown)
      dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog ref={element} class={`dialog ${size}`} aria-labelledby={heading}>
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}

export interface ConfirmProps {
  readonly title: string
  /** What happens then: "Revoke". */
  readonly verb: string
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** Asks before something that cannot be undone; stays open, and says why, when it fails. */
export function Confirm({ title, verb, onConfirm, onClose, children }: ConfirmProps) {
  const { run, isBusy, error } = useAction(async () => {
    await onConfirm()
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <Failure error={error} />}
      <footer class="dialog-foot">
        <button type="button" onClick={onClose} data-autofocus>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={() => void run()}>
          {verb}
        </button>
      </footer>
    </Dialog>
  )
}

export interface FormDialogProps {
  readonly title: string
  /** On the button that does it: "Create". */
  readonly verb: string
  /** Throws what is then shown in the dialog; closing it afterwards is up to this. */
  readonly onSubmit: (form: FormData) => Promise<unknown>
  readonly onClose: () => void
  readonly size?: 'small' | 'large'
  readonly children: ComponentChildren
}

export function FormDialog({ title, verb, onSubmit, onClose, size, children }: FormDialogProps) {
  const { run, isBusy, error } = useAction(onSubmit)
  return (
    <Dialog title={title} onClose={onClose} {...(size && { size })}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault()
          void run(new FormData(event.currentTarget))
        }}
      >
        {children}
        {error && <Failure error={error} />}
        <footer class="dialog-foot">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            {verb}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
