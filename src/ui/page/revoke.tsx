import { Removal, type RemovalProps } from './removal.tsx'

/** Asks before a key or a token is taken back. */
export function Revoke({
  name,
  ...removal
}: { readonly name: string } & Pick<RemovalProps, 'path' | 'id' | 'list'>) {
  return (
    <Removal title={`Revoke “${name}”?`} verb="Revoke" {...removal}>
      <p>Programs that use it are refused at once. This cannot be taken back.</p>
    </Removal>
  )
}
