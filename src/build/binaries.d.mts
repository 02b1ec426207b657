export const thisSystem: string
export function copyInstalled(): void
