import type { HttpServerChoice } from '../../config.ts'
import { AssayError } from '../../error.ts'
import type { HttpServer } from './http-server.ts'
import { loadNative } from './native.ts'
import { UWebSocketsServer } from './uwebsockets.ts'

export interface OpenHttpServer {
  readonly server: HttpServer
  /** Why uWebSockets.js does not load, where it would have been taken. */
  readonly fault?: string
}

export async function openHttpServer(choice: HttpServerChoice): Promise<OpenHttpServer> {
  let fault: string | undefined
  if (choice !== 'node') {
    const loaded = await loadNative()
    if (loaded.native) return { server: new UWebSocketsServer(loaded.native) }
    if (choice === 'uwebsockets') {
      throw new AssayError('CONFIG_INVALID', `uWebSockets.js does not load: ${loaded.reason}`, {
        hint: 'leave --http-server out, and Node’s own server takes its place',
      })
    }
    fault = loaded.reason
  }
  // Few need it.
  const { NodeServer } = await import('./node.ts')
  return { server: new NodeServer(), ...(fault !== undefined && { fault }) }
}
