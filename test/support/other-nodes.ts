/**
 * Runs the HTTP tests with each other version of Node, over its own server, and what else depends on the version. Each run
 * ends with its counts; that a version cannot be had is a failure.
 */
import { spawnSync } from 'node:child_process'
import { nodeProgram, otherNodeVersions } from './node-versions.ts'

const root = new URL('../..', import.meta.url)
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts']

for (const version of otherNodeVersions) {
  console.log(`== the HTTP tests with Node ${version}`)
  const program = await nodeProgram(version)
  // They wait for most of their time.
  const args = [...vitest, '--project', 'node:http', '--maxWorkers', '2']
  const status = program && spawnSync(program, args, { cwd: root, stdio: 'inherit' }).status
  if (program === undefined) console.log('0 passed, 1 failed')
  if (status !== 0) process.exitCode = 1
}
