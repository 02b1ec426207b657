import { AssayError } from '../../error.ts'

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** In ms: `30s`, `15m`, `6h`, `7d`. */
export function parseDuration(flag: string, text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = Number(number) * units[(unit ?? 's') as keyof typeof units]
  if (ms > 0) return ms
  throw new AssayError('COMMAND_INVALID', `${flag} takes a time such as 30s, 15m, 6h or 7d`)
}
