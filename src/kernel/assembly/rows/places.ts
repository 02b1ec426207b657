/** Where things are in the memory of these loops; `kernel/row-scan.ts` reads the same places. */

/** Names of members, 32 bytes each: see `names.ts`. */
export const mostNames: i32 = 4096
export const nameTable: usize = 0x1000
/** By hash, the first name of a chain, plus one. */
export const nameHeads: usize = nameTable + 4096 * 32
export const nameHeadCount: i32 = 8192
export const nameBytes: usize = nameHeads + 8192 * 4
export const mostNameBytes: i32 = 512 * 1024

/** By place in the row, the name that stood there in the row before. */
export const guesses: usize = nameBytes + 512 * 1024 + 64
export const guessedPlaces: i32 = 64

/** Ways in which rows name their object: place and length of their bytes, and 1 if they are left out. */
export const mostNamings: i32 = 64
export const namingTable: usize = guesses + 64 * 4
export const namingBytes: usize = namingTable + 64 * 16
export const mostNamingBytes: i32 = 64 * 1024
/** That of the row at hand. */
export const ownNaming: usize = namingBytes + 64 * 1024 + 64
export const mostOwnNaming: i32 = 4096

/** Hashes of what the rows of these requests are known to have. */
export const seenTable: usize = ownNaming + 4096 + 64
export const seenSlots: i32 = 4096
export const mostSeen: i32 = 3072

/** Of each row: its end, begin and end of its id, and how it names its object. */
export const mostRows: i32 = 4096
export const rowTable: usize = seenTable + 4096 * 8
/** Of what is new: row, name, and begin and end of the value. */
export const mostEvents: i32 = 4096
export const eventTable: usize = rowTable + 4096 * 16

/** Members of the row at hand, by their rank: rank, begin, length of the name, and of the value. */
export const mostMembers: i32 = 256
export const memberTable: usize = eventTable + 4096 * 16

/** Values of it that may be new: name, begin and end of the value, and the hash of its names. */
export const candidateTable: usize = memberTable + 256 * 16 + 64

/** Text for rows that do not say when they were made. */
export const nowText: usize = candidateTable + 256 * 24 + 64

export const inputPlace: usize = 0x200000
export const mostInput: i32 = 4 * 1024 * 1024
/** Rows: each may take its text three times and 256 bytes. */
export const outPlace: usize = inputPlace + 4 * 1024 * 1024 + 0x10000
