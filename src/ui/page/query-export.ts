/** Whole answers as files, which the browser saves as they come: none passes through the page. */
import { tell, tellFailure } from '../component/toast.tsx'
import { requestJson } from '../service/client.ts'
import { ownProject } from '../service/own-project.ts'
import { tzOffset } from '../service/query.ts'
import { base } from '../state/location.ts'

export const exportFormats = [
  { id: 'csv', title: 'CSV', detail: 'for spreadsheets' },
  { id: 'jsonl', title: 'JSON lines', detail: 'a row a line' },
  { id: 'json', title: 'JSON', detail: 'rows and schema' },
  { id: 'parquet', title: 'Parquet', detail: 'typed columns, small' },
  { id: 'arrow', title: 'Arrow', detail: 'typed columns, a stream' },
] as const

export type ExportFormat = (typeof exportFormats)[number]['id']

/**
 * All rows of the query, also those that the page does not show.
 *
 * @param version an `_xact_id`: records as they were then
 */
export async function exportQuery(
  query: string,
  fmt: ExportFormat,
  version?: string,
): Promise<void> {
  try {
    const body = {
      query,
      fmt,
      tz_offset: tzOffset,
      ...(fmt === 'csv' && { escape_formulas: true }),
      ...ownProject(query),
      ...(version !== undefined && { version }),
    }
    const { path } = await requestJson<{ path: string }>('/btql/export', { body })
    const link = document.createElement('a')
    link.href = base + path
    link.download = ''
    document.body.append(link)
    link.click()
    link.remove()
    tell('The browser saves the file as it comes')
  } catch (thrown) {
    tellFailure(thrown)
  }
}
