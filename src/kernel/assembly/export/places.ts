/** Where things are in the memory of these loops; `kernel/export-rows.ts` reads the same places. */

/** Behind bytes of which sixteen are read or written at once. */
const roomBytes: usize = 64

/** A row has no more bytes. */
export const mostRowBytes: usize = 0x100000

/** By the first bits of a code point, where its page of characters is; 0: not made yet. */
export const pageTable: usize = 0x2000
const pageTableBytes: usize = 0x1100 * 4
/** Pages of 256 characters: see `cut-words.ts`. */
export const pages: usize = pageTable + pageTableBytes + roomBytes
export const mostPages: i32 = 512
const pageBytes: usize = 1024
/** Foldings that are not one character: how many code points, and the characters. */
export const foldings: usize = pages + <usize>mostPages * pageBytes
export const mostFoldingBytes: i32 = 0x10000

/** Of each ASCII character, what it folds to if it is of a word; otherwise 0. */
export const asciiTable: usize = foldings + <usize>mostFoldingBytes + roomBytes

/** Names of fields that are more than values of the document, 16 bytes each: place, length, role. */
export const fieldTable: usize = asciiTable + 256
export const mostFields: i32 = 64
/** Of the row at hand, begins and ends of the values by their roles. */
export const fieldValues: usize = fieldTable + <usize>mostFields * 16
export const roleCount: i32 = 16
/** Begins and ends of its members, in the order of its text. */
export const memberTable: usize = fieldValues + <usize>roleCount * 8
export const mostMembers: i32 = 256

/** Hashes of the names of all objects that are open. */
export const nameHashes: usize = memberTable + <usize>mostMembers * 8
export const mostNames: i32 = 1024
export const path: usize = nameHashes + <usize>mostNames * 8
export const mostPathBytes: usize = 0x1000
export const powersOfTen: usize = path + mostPathBytes + roomBytes

export const fieldNames: usize = powersOfTen + 24 * 8
export const mostFieldNameBytes: i32 = 0x4000

/** Paths that are listed. */
export const listed: usize = fieldNames + <usize>mostFieldNameBytes + roomBytes
export const mostListedBytes: usize = 0x10000

/** A string without its escapes. */
export const unescaped: usize = 0x180000
/** The row that is taken. */
export const rowPlace: usize = unescaped + mostRowBytes + roomBytes
/** Paths and values of the document. */
export const documentPlace: usize = rowPlace + mostRowBytes + roomBytes
export const mostDocumentBytes: usize = 0x300000
/** Different words of a text, and where they are by their hashes. */
export const wordsPlace: usize = documentPlace + mostDocumentBytes + roomBytes
export const mostWordsBytes: usize = 0x200000
export const wordSlots: usize = wordsPlace + mostWordsBytes + 0x1000
/** Rows as they go out. */
export const outPlace: usize = wordSlots + mostRowBytes * 8 + roomBytes
