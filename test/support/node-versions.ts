/** Versions of Node that the built service runs on, too, from npm's package `node`. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { madeOnce, run } from './language-tools.ts'

export const otherNodeVersions = ['22.23.3', '24.21.0'] as const

/** Installs it if need be. Undefined, and said so, where there is none for this machine, or no network. */
export async function nodeProgram(version: string): Promise<string | undefined> {
  try {
    const kept = await madeOnce('node', [`node@${version}`], async (made) => {
      mkdirSync(made, { recursive: true })
      const quietly = ['--no-save', '--no-audit', '--no-fund', '--loglevel', 'error']
      await run('npm', ['install', '--prefix', made, ...quietly, `node@${version}`])
    })
    const program = join(kept, 'node_modules/node/bin/node')
    await run(program, ['--version'])
    return program
  } catch (thrown) {
    console.log(`Left out: Node ${version} cannot be had here: ${String(thrown).slice(0, 500)}`)
    return undefined
  }
}
