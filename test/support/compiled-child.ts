/** Programs of tests as a build would have them: they start in a third of the time that the sources take. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyInstalled, thisSystem } from '../../src/build/binaries.mjs'
import { bundleInto } from '../../src/build/bundle.mjs'

const repository = fileURLToPath(new URL('../..', import.meta.url))

export interface CompiledChild {
  readonly path: string
  /** To be removed when it is not started any more. */
  readonly folder: string
}

/** @param name of a file in `test/support`, without its ending */
export async function compileChild(name: string): Promise<CompiledChild> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-compiled-'))
  // As a build lies in the package: see `src/installation.ts`.
  const built = join(folder, 'dist')
  await bundleInto(built, { in: `test/support/${name}.ts`, out: `test/${name}` })
  mkdirSync(join(built, 'src/kernel'), { recursive: true })
  for (const loops of ['kernels.wasm', 'rows.wasm', 'export.wasm']) {
    cpSync(join(repository, 'src/kernel', loops), join(built, 'src/kernel', loops))
  }
  const binaries = join(repository, 'dist/native')
  if (!existsSync(join(binaries, thisSystem))) copyInstalled()
  symlinkSync(binaries, join(built, 'native'))
  cpSync(join(repository, 'package.json'), join(folder, 'package.json'))
  return { path: join(built, `test/${name}.js`), folder }
}
