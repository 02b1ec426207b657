/** Windows over the page, that are dealt with before one goes on. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from '../service/action.ts'
import { Icon } from './icon.tsx'
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
    dialog.focus()
    // What takes the focus may have to be loaded: until then the dialog itself has it.
    const giveFocus = () => {
      if (document.activeElement === dialog) {
        firstIn(dialog)?.focus()
      }
      if (document.activeElement !== dialog) later.disconnect()
    }
    const later = new MutationObserver(giveFocus)
    later.observe(dialog, { childList: true, subtree: true })
    giveFocus()
    return () => {
      later.disconnect()
      dialog.removeEventListener('cancel', onCancel)
      dialog.removeEventListener('pointerdown', onPointerDown)
      dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog ref={element} tabIndex={-1} class={`dialog ${size}`} aria-labelledby={heading}>
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** What has the focus when a dialog opens: what says so, or else the first field of its form. */
function firstIn(dialog: HTMLDialogElement): HTMLElement | null {
  return (
    dialog.querySelector<HTMLElement>('[data-autofocus]') ??
    dialog.querySelector<HTMLElement>('form :is(input, textarea, [role="combobox"])')
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
