/** What the service warns of, as a backup that is too old, to those who can do something about it. */
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { useRights } from '../service/rights.ts'
import { session } from '../service/session.ts'

export function ServiceWarnings() {
  const id = session.value?.organization.id
  const { data: rights } = useRights('organization', id)
  const isAsked = rights?.permissions.includes('update') ?? false
  const { data } = useLoaded(isAsked ? `warnings ${id}` : undefined, (signal) =>
    requestJson<{ readonly warnings: readonly string[] }>('/admin/status', { signal }),
  )
  if (!data || data.warnings.length === 0) return null
  return (
    <section role="alert" class="service-warnings" aria-label="Warnings">
      {data.warnings.map((warning) => (
        <p key={warning}>{warning.charAt(0).toUpperCase() + warning.slice(1)}.</p>
      ))}
    </section>
  )
}
