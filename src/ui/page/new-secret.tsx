import { CopyButton } from '../component/copy-button.tsx'
import { Dialog } from '../component/dialog.tsx'

/** A text that is shown now and never again. */
export function NewSecret({
  title,
  text,
  onClose,
}: {
  readonly title: string
  readonly text: string
  readonly onClose: () => void
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Copy it now: it is not kept, and cannot be shown again.</p>
      <div class="secret">
        <code>{text}</code>
        <CopyButton text={text} />
      </div>
      <pre class="code">{`export BRAINTRUST_API_KEY=${text}`}</pre>
      <footer class="dialog-foot">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  )
}
