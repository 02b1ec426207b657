/** What a service does besides taking rows, so that its cost is seen in pairs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { AssayClient } from '../peers/systems/assay-client.ts'
import type { AssayProcess } from '../peers/systems/assay-process.ts'

/** `masking`: ten rules hold. `backup`: backups of everything are taken, one after the other. */
export const besides = ['nothing', 'masking', 'backup'] as const

export type Beside = (typeof besides)[number]

/** As an organization has them: two by fields, and patterns that are looked for everywhere. */
const rules: readonly Readonly<Record<string, unknown>>[] = [
  { fields: ['password', 'authorization', 'api_key', 'secret'], action: { type: 'hash' } },
  { fields: ['email', 'phone'], action: { type: 'keep_last_four' } },
  { pattern: { type: 'email' } },
  { pattern: { type: 'phone' } },
  { pattern: { type: 'card' } },
  { pattern: { type: 'iban' } },
  { pattern: { type: 'key' } },
  { pattern: { type: 'jwt' } },
  { path: 'metadata.user_name', action: { type: 'drop' } },
  { path: 'input', pattern: { type: 'expression', expression: 'employee-[0-9]{6}' } },
]

export async function addMaskingRules({ url, key }: AssayProcess): Promise<void> {
  const client = new AssayClient({ url, key, connections: 1 })
  try {
    for (const [i, rule] of rules.entries()) {
      const body = { name: `rule ${i}`, action: { type: 'replace' }, ...rule }
      await client.postJson('/v1/masking_rule', body)
    }
  } finally {
    client.close()
  }
}

/** Takes backups until it is stopped; `stop` resolves to how many were taken. */
export function backUpAgainAndAgain(
  server: string,
  directory: string,
  { url, key }: AssayProcess,
): { stop(): Promise<number> } {
  let [taken, isStopped] = [0, false]
  const run = async () => {
    while (!isStopped) {
      const args = [server, 'backup', join(directory, `backup-${taken}`), '--full']
      const env = { ...process.env, ASSAY_URL: url, ASSAY_API_KEY: key }
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`assay backup ended with code ${String(code)}`)
      taken++
    }
  }
  const running = run()
  running.catch(() => undefined)
  return {
    stop: async () => {
      isStopped = true
      await running
      return taken
    },
  }
}
