import type { DocumentPage } from '../server/docs/document-files.ts'

export const documentFolder: string
export function documentPages(pictureUrl: (picture: string) => string): DocumentPage[]
export function renderPage(
  name: string,
  markdown: string,
  pictureUrl?: (picture: string) => string,
): DocumentPage
