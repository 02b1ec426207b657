/** What a person sees who starts the service on a terminal: `script` gives the process one. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { startMessage } from '../../src/cli/start-message.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const main = new URL('../../dist/src/main.js', import.meta.url).pathname
const hasTerminal = spawnSync('script', ['--version']).status === 0
if (!hasTerminal) console.log('left out: the command "script" gives no terminal here')

/** All that is shown by a service that is stopped once it has said how. */
async function shownOnTerminal(directory: string, environment: Record<string, string>) {
  const serve = `${process.execPath} ${main} serve --port 0 --data-dir ${directory}`
  const child = spawn('script', ['--quiet', '--return', '--command', serve, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'dumb', ...environment },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  let isStopped = false
  child.stdout.on('data', (bytes: Buffer) => {
    shown += bytes.toString()
    if (isStopped || !shown.includes('Ctrl-C')) return
    isStopped = true
    // What Ctrl-C sends.
    child.stdin.write('\u0003')
  })
  const [code] = await once(child, 'close')
  return { code, shown: shown.replaceAll('\r\n', '\n') }
}

test.runIf(hasTerminal)('a start on a terminal says what a person needs, and no JSON', async () => {
  const directory = temporaryDirectory()
  const environment = { ASSAY_OTLP_GRPC_PORT: 'off' }
  const first = await shownOnTerminal(directory, environment)
  expect(first.shown).toMatch(/Assay \d+\.\d+\.\d+/)
  expect(first.shown).toMatch(/Open +http:\/\/127\.0\.0\.1:\d+\/#key=sk-\S+\n/)
  expect(first.shown).toMatch(/Key +sk-\S+ \(shown this once\)/)
  expect(first.shown).toContain(directory)
  expect(first.shown).not.toContain('{"')

  const second = await shownOnTerminal(directory, environment)
  expect(second.shown).toMatch(/Open +http:\/\/127\.0\.0\.1:\d+\n/)
  expect(second.shown).not.toContain('sk-')
})

test.runIf(hasTerminal)('a key that was chosen is not shown', async () => {
  const environment = { ASSAY_OTLP_GRPC_PORT: 'off', ASSAY_BOOTSTRAP_KEY: 'sk-chosen-by-the-user' }
  const { shown } = await shownOnTerminal(temporaryDirectory(), environment)
  expect(shown).toContain('the one in ASSAY_BOOTSTRAP_KEY')
  expect(shown).not.toContain('sk-chosen')
})

test.runIf(hasTerminal)('behind a proxy the address is the one that people use', async () => {
  const ASSAY_PUBLIC_URL = 'https://example.com/assay'
  const { shown } = await shownOnTerminal(temporaryDirectory(), { ASSAY_PUBLIC_URL })
  expect(shown).toMatch(/Open +https:\/\/example\.com\/assay\/#key=sk-/)
})

test('a person is told which HTTP server there is, where it is not the usual one', () => {
  const message = {
    url: 'http://127.0.0.1:8000',
    otlpGrpcPort: undefined,
    dataDirectory: '/data',
    newKey: undefined,
    isKeyChosen: true,
  }
  expect(startMessage({ ...message, httpServerFault: undefined })).not.toContain('HTTP ')
  expect(startMessage({ ...message, httpServerFault: 'GLIBC_2.38 not found' })).toMatch(
    /^ {2}HTTP +Node’s own server, as uWebSockets\.js does not load here: GLIBC_2\.38 not found$/m,
  )
})
