import { Menu } from '../component/menu.tsx'
import { type ExportFormat, exportFormats, exportQuery } from './query-export.ts'

/** All rows of a query as a file, in a format to choose. */
export function ExportMenu({
  query,
  label = 'Export',
  version,
  formats,
}: {
  readonly query: string
  readonly label?: string
  /** An `_xact_id`: records as they were then. */
  readonly version?: string | undefined
  /** Those that are offered, if not all. */
  readonly formats?: readonly ExportFormat[]
}) {
  return (
    <Menu
      label={label}
      isDisabled={query.trim() === ''}
      items={exportFormats
        .filter(({ id }) => formats?.includes(id) ?? true)
        .map(({ id, title, detail }) => ({
          label: title,
          detail,
          onChoose: () => void exportQuery(query, id, version),
        }))}
    />
  )
}
