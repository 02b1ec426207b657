/** A service that cannot start says why, and what to do, in two lines. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const main = new URL('../../dist/src/main.js', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'assay-start-'))
const mounts: string[] = []

beforeAll(() => chmodSync(folder, 0o755))
afterAll(() => {
  for (const mount of mounts) execFileSync('umount', [mount])
  rmSync(folder, { recursive: true })
})

/** What `assay serve` ends with, run by another command that limits it. */
function start(directory: string, limits: readonly string[] = [], more: readonly string[] = []) {
  const serve = [
    'serve',
    '--port',
    '0',
    '--otlp-grpc-port',
    'off',
    '--data-dir',
    directory,
    ...more,
  ]
  const command = [...limits, process.execPath, main, ...serve]
  const { status, stderr } = spawnSync(command[0]!, command.slice(1), {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  return { status, stderr }
}

/** Whether the machine has the commands, and lets them be used; says so where a test is left out. */
function can(what: string, ...command: string[]): boolean {
  const isPossible = spawnSync(command[0]!, command.slice(1)).status === 0
  if (!isPossible) process.stderr.write(`left out: ${what}, as ${command[0]} is refused here\n`)
  return isPossible
}

function mounted(name: string, options: string): string | undefined {
  const path = join(folder, name)
  mkdirSync(path)
  if (!can(name, 'mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path)) return undefined
  mounts.push(path)
  return path
}

function expectSentence(
  outcome: { status: number | null; stderr: string },
  fault: string,
  hint: string,
) {
  // LMDB writes a line of its own before, when it has no room.
  const lines = outcome.stderr.trim().split('\n').slice(-2)
  expect(lines).toEqual([expect.stringContaining(fault), expect.stringContaining(hint)])
  expect(lines[0]).toContain('assay: ')
}

test('a file in place of the directory, or above it', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const outcome = start(file)
  expectSentence(outcome, `${file}: there is a file, where a directory should be`, 'another path')
  expect(outcome.status).toBe(1)
  expectSentence(start(join(file, 'sub')), 'a part of the path is a file', 'another path')
})

test('a directory that may only be read', () => {
  const path = mounted('read-only', 'ro')
  if (path === undefined) return
  expectSentence(start(path), `${path}: its disk is read-only`, 'for writing')
  expectSentence(start(join(path, 'new')), 'its disk is read-only', 'for writing')
})

test.each([64, 120, 200, 300])('a disk of %i KiB', (kilobytes) => {
  const path = mounted(`full-${kilobytes}`, `size=${kilobytes}k`)
  if (path === undefined) return
  expectSentence(start(path), 'no space left on its disk', 'make room')
})

test('a directory of another user', () => {
  const other = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
  if (!can('a directory of another user', ...other, process.execPath, '--import', 'tsx', '-e', '0'))
    return
  const path = join(folder, 'own')
  mkdirSync(path, { mode: 0o700 })
  expectSentence(start(path, other), 'the user 65534 may not use it', 'chown')
})

test('too few open files, and too little address space', () => {
  if (!can('limits', 'prlimit', '--nofile=300:300', 'true')) return
  const path = join(folder, 'limited')
  const few = start(path, ['prlimit', '--nofile=300:300'])
  expectSentence(few, 'only 300 files open, and needs 512', 'ulimit -n')
  expect(few.status).toBe(2)
  const little = start(path, ['prlimit', `--as=${6000 * 2 ** 30}`])
  expectSentence(little, 'only 6000 GiB of address space, and needs 8192', 'ulimit -v')
})

test('an address that cannot be had', async () => {
  const path = join(folder, 'address')
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  expectSentence(start(path, [], ['--port', `${port}`]), 'cannot listen on', 'the port is taken')
  taken.close()
  const elsewhere = start(path, [], ['--host', '203.0.113.7'])
  expectSentence(elsewhere, 'cannot listen on 203.0.113.7:0', 'no address of this machine')
})

test('a file of prices that is not there', () => {
  const outcome = start(join(folder, 'prices'), [], ['--prices', join(folder, 'none.json')])
  expectSentence(outcome, '--prices: cannot read', 'whether the path is right')
  expect(outcome.status).toBe(2)
})
