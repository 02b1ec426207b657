import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** What is installed or made. */
const others = new Set(['node_modules', 'dist', 'data', 'coverage', '.git', 'results', 'secrets'])

/** Paths of all files of the repository, in order. */
export const repositoryFiles: readonly string[] = filesBelow('').sort()

function filesBelow(folder: string): string[] {
  return readdirSync(root + folder).flatMap((name) => {
    const path = folder + name
    if (others.has(name) || !existsSync(root + path)) return []
    return statSync(root + path).isDirectory() ? filesBelow(`${path}/`) : [path]
  })
}
