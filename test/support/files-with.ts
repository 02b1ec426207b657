import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files of the directory that have the text somewhere. */
export function filesWith(directory: string, text: string): string[] {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text))
}
