/** Tools of other languages that programs of `test/clients` are run with, where they are there. */
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const run = promisify(execFile)

/** Where tests keep what they install: one folder for all clones of the repository. */
const clientCache = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'assay-test-clients',
)

/**
 * Looks for a tool, and prints that its clients are left out when it is not there.
 *
 * @param isEnough says by what it prints whether it is new enough
 * @returns what it prints; undefined when it is not there
 */
export function findTool(
  clients: string,
  [command, ...args]: readonly [string, ...string[]],
  isEnough: (printed: string) => boolean = () => true,
): string | undefined {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status === 0 && isEnough(stdout + stderr)) return stdout + stderr
  console.log(`Left out: clients for ${clients}, as \`${command}\` is missing or too old`)
  return undefined
}

/** Whether `madeOnce` would find it. */
export function wasMade(name: string, sources: readonly string[]): boolean {
  return existsSync(folderOf(name, sources))
}

function folderOf(name: string, sources: readonly string[]): string {
  const hash = createHash('sha256')
  for (const source of sources) hash.update(existsSync(source) ? readFileSync(source) : source)
  return join(clientCache, `${name}-${hash.digest('hex').slice(0, 16)}`)
}

/**
 * Makes a folder once, and finds it afterwards. Two runs may make it at once: each makes one of its
 * own, and the first that is done gives it the name under which others look for it.
 *
 * @param sources texts and files that the folder is made of: it is another one when they are others
 * @param make fills the folder, which it may have to make
 */
export async function madeOnce(
  name: string,
  sources: readonly string[],
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const kept = folderOf(name, sources)
  if (existsSync(kept)) return kept
  const made = `${kept}.${process.pid}`
  mkdirSync(clientCache, { recursive: true })
  await make(made)
  try {
    renameSync(made, kept)
  } catch (error) {
    if (!existsSync(kept)) throw error
    rmSync(made, { recursive: true })
  }
  return kept
}
