/**
 * Takes the place of a package that decompresses Snappy by WebAssembly, which the page's policy does not let scripts
 * compile. The reader of Parquet has its own way, for which there must be no other.
 */

export function snappyUncompressor(): undefined {
  return undefined
}

export const snappyUncompress = undefined
