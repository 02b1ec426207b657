/** `assay check` in this process. */
import { vi } from 'vitest'
import { type CheckFlags, runCheck } from '../../src/cli/check.ts'

/** What the command says, and its exit code. */
export async function check(
  directory: string,
  repair = false,
  flags: Omit<CheckFlags, 'dataDir' | 'repair'> = {},
) {
  const texts: string[] = []
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    texts.push(String(text))
    return true
  })
  try {
    await runCheck({ ...flags, dataDir: directory, ...(repair && { repair: true }) })
    return { code: process.exitCode, said: texts.join('') }
  } finally {
    spy.mockRestore()
    process.exitCode = undefined
  }
}
