/** Something that a person has done: under way, failed, or over. */
import { useRef, useState } from 'preact/hooks'

export interface Action<Arguments extends readonly unknown[]> {
  /** Does nothing while it is under way already; never rejects. */
  run(...given: Arguments): Promise<void>
  readonly isBusy: boolean
  readonly error: Error | undefined
}

export function useAction<Arguments extends readonly unknown[]>(
  act: (...given: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [state, setState] = useState<{ isBusy: boolean; error: Error | undefined }>(idle)
  const isBusy = useRef(false)
  const run = async (...given: Arguments) => {
    if (isBusy.current) return
    isBusy.current = true
    setState({ isBusy: true, error: undefined })
    try {
      await act(...given)
      setState(idle)
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      setState({ isBusy: false, error })
    } finally {
      isBusy.current = false
    }
  }
  return { run, ...state }
}

const idle = { isBusy: false, error: undefined } as const
