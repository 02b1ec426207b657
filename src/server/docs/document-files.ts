/** The built pages of the documentation, in memory. */
import { existsSync, readFileSync } from 'node:fs'
import { AssayError } from '../../error.ts'
import { builtFile } from '../../installation.ts'

/** What stands between two headings of a page. */
export interface DocumentSection {
  readonly title: string
  /** Of its heading; empty for what stands before the first. */
  readonly anchor: string
  /** Without signs of Markdown. */
  readonly text: string
}

export interface DocumentPage {
  /** As addresses have it; empty for the start. */
  readonly name: string
  readonly title: string
  readonly headings: readonly { readonly title: string; readonly anchor: string }[]
  readonly html: string
  readonly sections: readonly DocumentSection[]
}

export interface Documents {
  /** In the order of the menu, the start first. */
  readonly pages: readonly DocumentPage[]
  /** Names of files of the web page. */
  readonly script: string
  readonly style: string
  /** The mark of the web page, as an address. */
  readonly icon: string
}

const file = builtFile('src/ui/docs.json')

let documents: Documents | undefined

/** Reads them once. Throws when they were never built. */
export function readDocuments(): Documents {
  if (documents === undefined && !existsSync(file)) {
    throw new AssayError('ROUTE_NOT_FOUND', 'the documentation is not built', {
      hint: 'run "npm run build"',
    })
  }
  documents ??= JSON.parse(readFileSync(file, 'utf8')) as Documents
  return documents
}
