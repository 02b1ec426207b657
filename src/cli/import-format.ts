export const importFormats = ['jsonl', 'csv', 'parquet'] as const
export type ImportFormat = (typeof importFormats)[number]
