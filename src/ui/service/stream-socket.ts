/** Sockets on which the service answers queries as they run. */
import { base } from '../state/location.ts'

export function openStream(): WebSocket {
  const url = new URL(`${base}/btql/stream`, window.location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return new WebSocket(url)
}

/** Closes a socket; one that still connects does so first, as browsers take to be left before that for an error. */
export function leaveStream(socket: WebSocket): void {
  if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close()
  else socket.close()
}
