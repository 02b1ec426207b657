/** The built page, in memory: a few hundred kilobytes, most of them compressed beforehand. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { AssayError } from '../error.ts'
import { builtFile } from '../installation.ts'

export interface PageFile {
  readonly contentType: string
  readonly bytes: Uint8Array
  /** The same, compressed; undefined for pictures, which are as they are. */
  readonly gzip?: Uint8Array
  readonly brotli?: Uint8Array
}

export interface Page {
  /** With `{{base}}` where the path of the page's start belongs. */
  readonly html: string
  /** By name. Names have the hash of their content in them. */
  readonly files: ReadonlyMap<string, PageFile>
}

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  webp: 'image/webp',
}

/** Where the last build put it. */
const directory = builtFile('src/ui/')

let page: Page | undefined

/** Reads the page once. Throws when it was never built. */
export function readPage(): Page {
  page ??= loadPage()
  return page
}

function loadPage(): Page {
  const index = new URL('index.html', directory)
  if (!existsSync(index)) {
    throw new AssayError('ROUTE_NOT_FOUND', 'the page is not built', {
      hint: 'run "npm run build"',
    })
  }
  const files = new Map<string, PageFile>()
  for (const name of readdirSync(directory)) {
    const contentType = contentTypes[name.slice(name.lastIndexOf('.') + 1)]
    if (contentType === undefined) continue
    const read = (suffix: string) => readFileSync(new URL(name + suffix, directory))
    const compressed = name.endsWith('.webp') ? {} : { gzip: read('.gz'), brotli: read('.br') }
    files.set(name, { contentType, bytes: read(''), ...compressed })
  }
  return { html: readFileSync(index, 'utf8'), files }
}
