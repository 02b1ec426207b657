/** Which files of scheduled exports may still have records that were deleted for good here. */
import type { Catalog, CatalogObject } from '../../catalog/catalog.ts'
import { toAssayError } from '../../error.ts'
import type { ExportPlaces } from '../../object-store/export-places.ts'
import { type Destination, openDestination } from './destination.ts'
import { listManifests, readExportManifest } from './export-manifest.ts'
import { type Automation, isExport, spansQuery } from './export-rule.ts'

/** By which transactions versions of the records were written. */
export interface WrittenVersions {
  readonly object: Pick<CatalogObject, 'type' | 'projectId'>
  readonly transactions: ReadonlySet<number>
}

/** Of one export. */
export interface ExportedCopies {
  readonly automation_id: string
  readonly project_id: string
  readonly place: string
  /** Paths below the place, the oldest first. */
  readonly files: readonly string[]
  /** Why its files could not be listed; null when they were. */
  readonly error: string | null
}

const manifestsAtOnce = 16

/**
 * Files of spans tell by their transactions. Traces and rows of a query may show a record in each file that was written later:
 * all of these count. Exports without such files are left out.
 */
export async function exportedCopies(
  catalog: Catalog,
  places: ExportPlaces,
  organizationId: string,
  written: readonly WrittenVersions[],
): Promise<ExportedCopies[]> {
  const copies: ExportedCopies[] = []
  for (const automation of [...catalog.list('project_automation', { organizationId })]) {
    const { id, project_id, config } = automation
    if (!isExport(config)) continue
    const place = (config as { readonly export_path: string }).export_path
    const named = { automation_id: id, project_id, place }
    try {
      const files = await filesOf(await openDestination(place, places), automation, written)
      if (files.length > 0) copies.push({ ...named, files, error: null })
    } catch (thrown) {
      const { family, message } = toAssayError(thrown)
      const error = family === 'internal' ? 'something went wrong; the log tells what' : message
      copies.push({ ...named, files: [], error })
    }
  }
  return copies
}

async function filesOf(
  destination: Destination,
  { id, project_id }: Automation,
  written: readonly WrittenVersions[],
): Promise<string[]> {
  const all = written.flatMap(({ transactions }) => [...transactions])
  const logs = written
    .filter(({ object }) => object.type === 'project_logs' && object.projectId === project_id)
    .flatMap(({ transactions }) => [...transactions])
  const earliest = all.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY)
  const later = (await listManifests(destination, id)).filter(({ through }) => through >= earliest)
  const files: string[] = []
  for (let from = 0; from < later.length; from += manifestsAtOnce) {
    const some = later.slice(from, from + manifestsAtOnce)
    const read = await Promise.all(some.map(({ path }) => readExportManifest(destination, path)))
    for (const [i, manifest] of read.entries()) {
      const { first, through, path } = some[i]!
      // Nobody knows which file a manifest names that cannot be read.
      if (!manifest) files.push(path)
      else if (manifest.file !== null) {
        const isOfSpans = manifest.query === spansQuery(manifest.project_id)
        const isMeant = !isOfSpans || logs.some((one) => one >= first && one <= through)
        if (isMeant) files.push(manifest.file)
      }
    }
  }
  return files
}
