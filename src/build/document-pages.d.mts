import type { DocumentPage } from '../server/docs/document-files.ts'

export const documentFolder: string
export interface Picture {
  readonly url: string
  readonly width: number
  readonly height: number
}

export function documentPages(picture: (name: string) => Picture): DocumentPage[]
export function renderPage(
  name: string,
  markdown: string,
  picture?: (name: string) => Picture,
): DocumentPage
