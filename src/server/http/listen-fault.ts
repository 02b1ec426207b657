/** Why an address cannot be listened on, as a sentence with the way out. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { AssayError } from '../../error.ts'

const hints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken: end the program that has it, or choose another with --port',
  EACCES: 'this user may not have the port: choose one above 1023 with --port',
  EADDRNOTAVAIL: 'the host is no address of this machine: choose another with --host',
  ENOTFOUND: 'no such host is known: choose another with --host',
  EAI_AGAIN: 'the name of the host cannot be looked up: give its address with --host',
}

/** For what looks up the name of a host. */
const longestMs = 2000

/** @param code what the system said; asked for once more where the server does not tell */
export async function listenFault(host: string, port: number, code?: string): Promise<AssayError> {
  const known = code ?? (await codeNow(host, port))
  const hint =
    hints[known] ?? `the system says ${known}: choose another address with --host or --port`
  return new AssayError('SERVER_CANNOT_LISTEN', `cannot listen on ${host}:${port}`, { hint })
}

function codeNow(host: string, port: number): Promise<string> {
  return Promise.race([codeOf(host, port), wait(longestMs, 'EAI_AGAIN', { ref: false })])
}

async function codeOf(host: string, port: number): Promise<string> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
    // It is free by now.
    return 'EADDRINUSE'
  } catch (thrown) {
    return systemCode(thrown)
  } finally {
    server.close()
  }
}

export function systemCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown)
}
