/** The binary of uWebSockets.js: the only place that loads it. Elsewhere nothing but its types is named. */
import type * as uWebSockets from 'uWebSockets.js'

/** What the service uses of it. */
export type Native = Pick<
  typeof uWebSockets,
  'App' | 'us_listen_socket_close' | 'us_socket_local_port'
>

/** The module, or why there is none on this machine. */
export type LoadedNative =
  | { readonly native: Native }
  | { readonly native: undefined; readonly reason: string }

/** Loads it. Never throws: with other versions of Node, of the C library, or systems there is no binary that fits. */
export async function loadNative(): Promise<LoadedNative> {
  try {
    const { default: native } = (await import('uWebSockets.js')) as unknown as { default: Native }
    return { native }
  } catch (thrown) {
    return { native: undefined, reason: reasonOf(thrown) }
  }
}

/** The system's own words, which the package has behind a text about what it supports. */
function reasonOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  const [, words = text] = /^Error: (.+)$/m.exec(text) ?? []
  return words.split('\n', 1)[0]!.slice(0, 300)
}
