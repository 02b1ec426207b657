import { existsSync, readFileSync } from 'node:fs'
import { AssayError } from '../error.ts'

/** Version of this package: from the package.json above, be this the source or the build. */
export const version: string = readVersion()

function readVersion(): string {
  for (const place of ['../../package.json', '../../../package.json']) {
    const url = new URL(place, import.meta.url)
    if (!existsSync(url)) continue
    const { name, version } = JSON.parse(readFileSync(url, 'utf8')) as Record<string, string>
    if (name === 'assay' && version !== undefined) return version
  }
  throw new AssayError('INTERNAL', 'package.json is not where it was installed')
}
