import { readFileSync } from 'node:fs'
import { packageFile } from '../installation.ts'

/** Version of this package. */
export const version: string = readVersion()

function readVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
