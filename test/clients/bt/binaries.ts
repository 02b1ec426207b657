/** Gets the pinned versions of `bt` from the npm registry: some 70 MB, which no one else needs. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Binary {
  readonly version: string
  readonly path: string
}

const directory = dirname(fileURLToPath(import.meta.url))

/** All that `package.json` names, oldest first; none, with a line that says why, if they are not to be had. */
export function installedBinaries(): Binary[] {
  const { dependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const binaries = Object.entries(dependencies).map(([name, source]) => ({
    version: source.slice(source.lastIndexOf('@') + 1),
    path: join(directory, 'node_modules', name, 'bin', 'bt'),
  }))
  if (!binaries.every(isInstalled)) {
    const options = ['--no-audit', '--no-fund', '--fetch-retries', '1', '--loglevel', 'error']
    const { status, stderr, error } = spawnSync('npm', ['ci', ...options], {
      cwd: directory,
      encoding: 'utf8',
      timeout: 120_000,
    })
    if (status !== 0) return leftOut(error?.message ?? stderr)
  }
  const broken = binaries.find((binary) => !isInstalled(binary))
  return broken ? leftOut(`${broken.path} does not run`) : binaries
}

function isInstalled({ path, version }: Binary): boolean {
  if (!existsSync(path)) return false
  return spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout?.trim() === `bt ${version}`
}

function leftOut(reason: string): [] {
  console.log(`bt is left out of the tests: ${reason.trim().split('\n')[0]}`)
  return []
}
