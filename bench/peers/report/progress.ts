/** Replaces the line that was shown before; on a terminal only, so that logs stay readable. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

/** A line that stays. */
export function note(text: string): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  process.stderr.write(`${text}\n`)
}
