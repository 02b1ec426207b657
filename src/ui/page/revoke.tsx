import { Confirm } from '../component/dialog.tsx'

/** Asks before a key or a token is taken back. */
export function Revoke({
  name,
  onClose,
  onConfirm,
}: {
  readonly name: string
  readonly onClose: () => void
  readonly onConfirm: () => Promise<void>
}) {
  return (
    <Confirm title={`Revoke “${name}”?`} verb="Revoke" onClose={onClose} onConfirm={onConfirm}>
      <p>Programs that use it are refused at once. This cannot be taken back.</p>
    </Confirm>
  )
}
