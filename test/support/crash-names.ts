/** Keys and values of what the crash test changes beside records. */
import type { ContentPlace } from '../../src/attachment/content-store.ts'

export function changeKey(run: string, number: number): string {
  return `test/${run}.${number}`
}

export function filePlace(run: string, number: number): ContentPlace {
  return { organizationId: run, kind: 'attachment', key: String(number) }
}

export function fileBytes(run: string, number: number): Buffer {
  return Buffer.alloc(1000 + ((number * 7919) % 60_000), `${run}.${number} `)
}
