/** What tells of each file of an export: written after the file, and removed before it. */
import { z } from 'zod'
import { formatTransaction, parseTransaction } from '../../type/transaction.ts'
import type { Destination } from './destination.ts'
import type { ExportRange } from './export-states.ts'

const manifestSchema = z.object({
  format: z.literal(1),
  automation_id: z.string(),
  project_id: z.string(),
  query: z.string(),
  /** Transactions after this one, and up to `through`. */
  after: z.string(),
  first: z.string(),
  through: z.string(),
  /** Its path; null when the range has no rows. */
  file: z.string().nullable(),
  rows: z.number(),
  bytes: z.number(),
  sha256: z.string().nullable(),
  written: z.string(),
})

export type ExportManifest = Readonly<z.infer<typeof manifestSchema>>

/** With an underscore, what reads a folder of files as a table leaves it out. */
function folderOf(automationId: string): string {
  return `_manifests/${automationId}/`
}

export function manifestPath(
  automationId: string,
  { first, through }: Pick<ExportRange, 'first' | 'through'>,
): string {
  const range = `${formatTransaction(first)}-${formatTransaction(through)}`
  return `${folderOf(automationId)}${range}.json`
}

export async function writeExportManifest(
  destination: Destination,
  manifest: ExportManifest,
): Promise<void> {
  const { automation_id, first, through } = manifest
  const path = manifestPath(automation_id, {
    first: parseTransaction(first),
    through: parseTransaction(through),
  })
  await destination.write(path, Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`))
}

/** The paths of an export's manifests with their ranges, the oldest first. */
export async function listManifests(
  destination: Destination,
  automationId: string,
): Promise<(Pick<ExportRange, 'first' | 'through'> & { readonly path: string })[]> {
  const paths = await destination.list(folderOf(automationId))
  return paths.flatMap((path) => {
    const [, first, through] = /\/(\d{19})-(\d{19})\.json$/.exec(path) ?? []
    if (first === undefined || through === undefined) return []
    return [{ path, first: parseTransaction(first), through: parseTransaction(through) }]
  })
}

/** Undefined for one that is not there, or that is no manifest. */
export async function readExportManifest(
  destination: Destination,
  path: string,
): Promise<ExportManifest | undefined> {
  const bytes = await destination.read(path)
  try {
    return manifestSchema.parse(JSON.parse(bytes?.toString() ?? 'null'))
  } catch {
    return undefined
  }
}

export function manifestOf(
  ids: Pick<ExportManifest, 'automation_id' | 'project_id' | 'query'>,
  { after, first, through }: ExportRange,
  written: Pick<ExportManifest, 'file' | 'rows' | 'bytes' | 'sha256'>,
): ExportManifest {
  return {
    format: 1,
    ...ids,
    after: formatTransaction(after),
    first: formatTransaction(first),
    through: formatTransaction(through),
    ...written,
    written: new Date().toISOString(),
  }
}
