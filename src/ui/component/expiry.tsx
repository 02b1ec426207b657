/** When a key ends, or that it has. */
export function Expiry({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="hint">never</span>
  if (Date.parse(at) <= Date.now()) {
    return (
      <span class="hint" title={at}>
        expired
      </span>
    )
  }
  return (
    <time dateTime={at} title={at}>
      {at.slice(0, 10)}
    </time>
  )
}
