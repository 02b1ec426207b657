/** The first query after a start of the service, with nothing of its files in the page cache. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { DataFile } from '../generator/data-file.ts'
import { selectQueries, textsOf } from '../queries/all-queries.ts'
import { ConstantSource } from '../queries/constants.ts'
import { showProgress } from '../report/progress.ts'
import { Assay } from '../systems/assay.ts'
import type { AssayOptions } from '../systems/assay-process.ts'

export interface ColdRun {
  readonly name: string
  readonly ms: number
  /** False where the system does not let the page cache be dropped: then only the process is new. */
  readonly isCacheDropped: boolean
}

/** The queries that are measured; each costs a start. */
const names = [
  'count, filter on string and double',
  'average of a double',
  'group by 8 models, 4 aggregates',
  'latest 100 rows, whole',
  'look-up by id, whole',
  'search, a rare word in any field',
]

/** Nothing else may have the directory open. */
export async function measureCold(
  options: AssayOptions,
  data: DataFile,
  filter: readonly string[] | undefined,
): Promise<ColdRun[]> {
  const constants = new ConstantSource(data)
  const results: ColdRun[] = []
  for (const query of selectQueries(filter).filter(({ name }) => names.includes(name))) {
    showProgress(`cold: ${query.name}`)
    const isCacheDropped = dropPageCache()
    const assay = await Assay.start(options)
    try {
      const ask = { constants, number: 0, projectId: assay.projectId }
      const { ms } = await assay.run(textsOf(query, ask)('assay'))
      results.push({ name: query.name, ms, isCacheDropped })
    } finally {
      await assay.close()
    }
  }
  return results
}

function dropPageCache(): boolean {
  try {
    execFileSync('sync')
    writeFileSync('/proc/sys/vm/drop_caches', '3')
    return true
  } catch {
    return false
  }
}
