/** What JavaScript does for these loops. */

/** The double that is nearest to the number that stands from `start` to `end`. */
export declare function readNumber(start: usize, end: usize): f64

/** Whether the integer that stands there is one that no double has. */
export declare function isLongInteger(start: usize, end: usize): bool

/**
 * Writes the array that stands there as it is to be, with sorted keys. Returns its length; less than zero when it has no
 * room. Its lowest bit tells whether the length changed.
 */
export declare function sortArray(start: usize, end: usize, target: usize, room: usize): i32

/** Makes the page of characters `number`; returns whether there was room. */
export declare function makePage(number: i32): bool
