export function mendLmdb(binding: Buffer, name: string): Buffer
