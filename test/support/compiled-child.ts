/** Programs of tests as JavaScript: compiling once saves seconds of each of many starts. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../..', import.meta.url))

export interface CompiledChild {
  readonly path: string
  /** To be removed when it is not started any more. */
  readonly folder: string
}

/** @param name of a file in `test/support`, without its ending */
export function compileChild(name: string): CompiledChild {
  const folder = mkdtempSync(join(tmpdir(), 'assay-compiled-'))
  // As a build lies in the package: see `src/installation.ts`.
  const built = join(folder, 'dist')
  const tsc = join(repository, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(tsc, ['--noEmit', 'false', '--outDir', built], { cwd: repository })
  const path = join(built, `test/support/${name}.js`)
  if (!existsSync(path)) throw new Error(`${name} was not compiled: ${stdout}`)
  for (const loops of ['kernels.wasm', 'rows.wasm', 'export.wasm']) {
    cpSync(join(repository, 'src/kernel', loops), join(built, 'src/kernel', loops))
  }
  cpSync(join(repository, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  return { path, folder }
}
