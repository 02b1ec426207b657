import { useState } from 'preact/hooks'

/**
 * State of something that the caller shows: of another thing it is `first` again. What somebody does as soon as that is drawn
 * is kept, which an effect that sets it back would undo.
 *
 * @param of what it is of; compared part by part, and of one length
 */
export function useStateOf<Value>(
  of: readonly unknown[],
  first: Value,
): readonly [Value, (next: Value) => void] {
  const [held, setHeld] = useState({ of, value: first })
  const isOfThis = held.of.every((part, i) => Object.is(part, of[i]))
  return [isOfThis ? held.value : first, (value) => setHeld({ of, value })]
}
