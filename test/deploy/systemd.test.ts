/** The unit of `.deploy`, looked at by systemd's own tools. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const unit = readFileSync(new URL('../../.deploy/assay.service', import.meta.url), 'utf8')
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
