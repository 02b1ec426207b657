/**
 * Opens what a thread works on when it begins or, if that fails, with the first task for which it does not. A thread that
 * ended because it cannot open its files would leave whoever waits for it without an answer.
 */
export function openWhenAble<Opened>(open: () => Opened): () => Opened {
  let opened: Opened | undefined
  const get = () => {
    opened ??= open()
    return opened
  }
  try {
    get()
  } catch {
    // The first task says so, unless it can be done by then.
  }
  return get
}
