import type { TextColumn, UncompressedColumn } from '../../vector/column.ts'

/** The column in memory, all of it: so one path at a time. */
export function decompressed(column: TextColumn): UncompressedColumn {
  if (column.encoding !== 'compressed') return column
  const { validity } = column
  const parts = [...column.texts.parts()]
  const bytes = Buffer.concat(parts.map((part) => part.bytes))
  const offsets = new Int32Array(1 + parts.reduce((sum, part) => sum + part.offsets.length - 1, 0))
  let row = 0
  for (const part of parts) {
    const start = offsets[row]!
    for (let i = 1; i < part.offsets.length; i++) offsets[++row] = start + part.offsets[i]!
  }
  return { encoding: 'plain', texts: { bytes, offsets }, validity }
}
