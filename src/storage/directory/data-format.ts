/**
 * The data directory names its format, so that a service that does not know it leaves it alone. Directories without a name
 * are of the first format.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AssayError } from '../../error.ts'
import { writeDurablySync } from '../durable-file.ts'

/**
 * What this service writes; 2 has checksums of stored values. It rises when services before it could not read
 * what this one writes, or would read it wrongly. All that came before are read; `test/formats` has directories of them.
 */
export const dataFormat = 2

/**
 * What a service writes as soon as bodies of rows leave the directory for a cluster (`maintenance/evict-rows.ts`): those before it
 * would take what is left for whole records. 4 has blocks of keys (`row/key-block.ts`); 3 had ids and more beside them.
 */
export const evictedFormat = 4

export const formatFile = 'format.json'

/** The format of a directory. Throws STORAGE_FORMAT when it is newer than this service, or no format at all. */
export function readFormat(directory: string): number {
  const path = join(directory, formatFile)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return 1
    throw thrown
  }
  const format = formatOf(text)
  if (format === undefined) {
    throw new AssayError('STORAGE_FORMAT', `${path} does not name the format of the data`, {
      hint: 'put back the file from a backup; it is {"format":N}, where N says which services can read the data',
    })
  }
  if (format <= evictedFormat) return format
  throw new AssayError(
    'STORAGE_FORMAT',
    `the data directory ${directory} has format ${format}, and this service reads formats up to ${evictedFormat}`,
    { hint: 'a newer version of Assay has written it: start that version, or a later one' },
  )
}

/** Names the format that is written from now on. To be called before anything of it is written. */
export function writeFormat(directory: string, format = dataFormat): void {
  writeDurablySync(join(directory, formatFile), `${JSON.stringify({ format })}\n`)
}

function formatOf(text: string): number | undefined {
  try {
    const { format } = JSON.parse(text) as { format?: unknown }
    return Number.isSafeInteger(format) && Number(format) > 0 ? Number(format) : undefined
  } catch {
    return undefined
  }
}
