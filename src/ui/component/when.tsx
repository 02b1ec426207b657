import { age, time } from './format.ts'

/** How long ago something was; exactly when the pointer rests on it. */
export function When({ at, never = '' }: { readonly at: string | null; readonly never?: string }) {
  return at === null ? (
    <span class="hint">{never}</span>
  ) : (
    <time dateTime={at} title={time(at)}>
      {age(at)}
    </time>
  )
}
