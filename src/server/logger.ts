import pino from 'pino'
import type { LogLevel } from '../config.ts'

export type Logger = pino.Logger

/** Lines are written together when there are so many bytes of them, or after so long. */
const bufferedBytes = 8192
const flushMs = 100

/**
 * JSON lines on standard output, written a few at a time: a system call for each would cost a small
 * request a tenth of its time. What is left is written when the process ends by itself, which a
 * process that is killed cannot do. Nothing that is logged may hold a key or a body.
 */
export function createLogger(level: LogLevel): Logger {
  if (level === 'silent') return pino({ level })
  const destination = pino.destination({
    fd: 1,
    sync: true,
    minLength: bufferedBytes,
    periodicFlush: flushMs,
  })
  process.on('exit', () => destination.flushSync())
  return pino({ level, base: null, timestamp: timestamps() }, destination)
}

/** Times in ISO 8601, each written once for all lines of a millisecond. */
function timestamps(): () => string {
  let last = Number.NaN
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) {
      last = now
      text = `,"time":"${new Date(now).toISOString()}"`
    }
    return text
  }
}
