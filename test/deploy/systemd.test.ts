/** The unit of `.deploy`, looked at by systemd's own tools, and run by systemd. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { BootedSystemd, canBootSystemd } from '../support/booted-systemd.ts'
import { freePort } from '../support/free-port.ts'
import { run } from '../support/language-tools.ts'

const repository = new URL('../..', import.meta.url).pathname
const unit = readFileSync(join(repository, '.deploy/assay.service'), 'utf8')
const { stdout: version } = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' })
const canAnalyze = Number(/^systemd (\d+)/.exec(version ?? '')?.[1]) >= 250
if (!canAnalyze) console.log('left out: systemd-analyze is missing, or older than 250')

describe.runIf(canAnalyze)('the unit', () => {
  const analyze = (...args: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'assay.service')
    // The program has to be there.
    writeFileSync(file, unit.replace(/ExecStart=\S+/, `ExecStart=${process.execPath}`))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], {
      encoding: 'utf8',
    })
    return { status, output: stdout + stderr }
  }

  test('is what systemd understands', () => {
    expect(analyze('verify', '--man=no')).toEqual({ status: 0, output: '' })
  })

  test('leaves the service little to do harm with', () => {
    // Of 100; what a unit without a word of this has is 96.
    const { status, output } = analyze('security', '--offline=true', '--threshold=15', '--no-pager')
    expect(output).toMatch(/Overall exposure level for assay.service: 1\.\d OK/)
    expect(status).toBe(0)
  })
})

describe.runIf(Boolean(process.env.ASSAY_SLOW) && canBootSystemd)('under systemd', () => {
  const key = 'sk-unit-0123456789'
  let folder: string
  let port: number
  let systemd: BootedSystemd

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'assay-unit-'))
    const program = join(folder, 'opt')
    await run('npm', ['pack', '--pack-destination', folder], { cwd: repository })
    const [packed] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    await run('npm', ['install', '--global', '--prefix', program, join(folder, packed!)])
    port = await freePort()
    systemd = new BootedSystemd(program, {
      '/etc/systemd/system/assay.service': unit,
      '/etc/assay/bootstrap-key': `${key}\n`,
      '/etc/assay/environment': `ASSAY_PORT=${port}\nASSAY_OTLP_GRPC_PORT=off\n`,
    })
  })

  afterAll(async () => {
    await systemd.stop()
    rmSync(folder, { recursive: true })
  })

  const ask = async (path: string, method = 'GET', body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const isHealthy = () =>
    ask('/healthz').then(
      ({ status }) => status === 200,
      () => false,
    )
  const show = async (property: string) => {
    return (await systemd.execute('systemctl', 'show', 'assay', '--value', '-p', property)).trim()
  }

  test('the service starts with its key, as a user without rights', async () => {
    await expect.poll(isHealthy).toBe(true)
    expect((await ask('/v1/project', 'POST', { name: 'kept' })).status).toBe(200)
    const status = await systemd.execute('cat', `/proc/${await show('MainPID')}/status`)
    expect(status).toMatch(/^Uid:\s+6\d{4}\s/m)
    expect(status).toMatch(/^CapEff:\s+0+$/m)
    expect(status).toMatch(/^Seccomp:\s+2$/m)
    const mode = await systemd.execute('stat', '--format=%a %U', '/var/lib/private/assay')
    expect(mode).toBe('700 assay\n')
  })

  test('it is started anew when it dies, and keeps its data', async () => {
    const before = await show('MainPID')
    await systemd.execute('kill', '-KILL', before)
    await expect.poll(() => show('MainPID')).not.toBe(before)
    await expect.poll(isHealthy).toBe(true)
    expect((await ask('/v1/project')).text).toContain('"kept"')
  })

  test('it stops in time, and ends well', async () => {
    await systemd.execute('systemctl', 'stop', 'assay')
    expect(await show('Result')).toBe('success')
    expect(await show('ExecMainStatus')).toBe('0')
    expect(await isHealthy()).toBe(false)
  })
})
