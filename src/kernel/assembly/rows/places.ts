/** Where things are in the memory of these loops; `kernel/row-scan.ts` reads the same places. */

/** Behind bytes of which sixteen are read at once. */
const roomBytes: usize = 64

/** Names of members, 32 bytes each: see `names.ts`. */
export const mostNames: i32 = 4096
export const nameTable: usize = 0x1000
/** By hash, the first name of a chain, plus one. */
export const nameHeads: usize = nameTable + <usize>mostNames * 32
export const nameHeadCount: i32 = 8192
export const nameBytes: usize = nameHeads + <usize>nameHeadCount * 4
export const mostNameBytes: i32 = 512 * 1024

/** By place in the row, the name that stood there in the row before. */
export const guesses: usize = nameBytes + <usize>mostNameBytes + roomBytes
export const guessedPlaces: i32 = 64

/** Ways in which rows name their object: place and length of their bytes, and 1 for datasets. */
export const mostNamings: i32 = 64
export const namingTable: usize = guesses + <usize>guessedPlaces * 4
export const namingBytes: usize = namingTable + <usize>mostNamings * 16
export const mostNamingBytes: i32 = 64 * 1024
/** That of the row at hand. */
export const ownNaming: usize = namingBytes + <usize>mostNamingBytes + roomBytes
export const mostOwnNaming: i32 = 4096

/** Hashes of what the rows of these requests are known to have. */
export const seenTable: usize = ownNaming + <usize>mostOwnNaming + roomBytes
export const seenSlots: i32 = 4096
export const mostSeen: i32 = 3072

/** Of each row: its end, begin and end of its id, how it names its object, and bits (`scan-rows.ts`). */
const rowTableRows: usize = 2048
export const rowTable: usize = seenTable + <usize>seenSlots * 8
/** Of what is new: row, name, and begin and end of the value. */
export const mostEvents: i32 = 4096
export const eventTable: usize = rowTable + rowTableRows * 32

/** Members of the row at hand, by their rank: rank, begin, length of the name, and of the value. */
export const mostMembers: i32 = 256
export const memberTable: usize = eventTable + <usize>mostEvents * 16

/** Values of it that may be new: name, begin and end of the value, and the hash of its names. */
export const candidateTable: usize = memberTable + <usize>mostMembers * 16 + roomBytes

/** Text for rows that do not say when they were made. */
export const nowText: usize = candidateTable + <usize>mostMembers * 24 + roomBytes

/** Which of the containers that are open are objects: a word for each 64 of them. */
export const kindStack: usize = nowText + 256

/** Ids that rows get which have none, 36 bytes each. */
export const mostMadeIds: i32 = 1024
export const madeIds: usize = kindStack + 256

export const inputPlace: usize = 0x200000
export const mostInput: i32 = 4 * 1024 * 1024
/** Rows: each may take its text three times and 512 bytes. */
export const outPlace: usize = inputPlace + <usize>mostInput + 0x10000
/** A row by itself. */
export const ownInput: usize = 0x2800000 - <usize>mostInput - 0x10000
