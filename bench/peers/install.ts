/** Installs the engines that are compared with, which users of the project need not have. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { note } from './report/progress.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))

export function installPeers(): void {
  if (existsSync(`${here}node_modules/chdb`)) return
  note('installing the peers (about 600 MB)')
  // Not `ci`: the lock file has the engines of the platform that it was written on only.
  const command = ['install', '--no-save', '--no-audit', '--no-fund']
  execFileSync('npm', command, { cwd: here, stdio: 'inherit' })
}

/** Builds the service as users do, and gives its entry. */
export function buildServer(): string {
  note('building the service')
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
  return `${root}dist/src/main.js`
}
