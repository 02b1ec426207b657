import pino from 'pino'
import type { LogLevel } from '../config.ts'

export type Logger = pino.Logger

/** JSON lines on standard output. Nothing that is logged may hold a key or a body. */
export function createLogger(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime })
}
