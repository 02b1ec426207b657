export function bundle(): Promise<void>
export function bundleInto(
  folder: string,
  program: { readonly in: string; readonly out: string },
): Promise<object>
