/**
 * Keeps a second process (or a second engine of this one) off a data directory.
 *
 * The owner listens on a Unix socket in the directory. The kernel closes it with the process,
 * however that ends, and it tells processes of different containers apart, where process ids do
 * not. A socket file left behind refuses connections, so it can be told from a living one; but it
 * cannot be replaced safely, because two processes could each take the other's new file for the
 * old one. Hence generations: `lock.5` that is dead is succeeded by `lock.6`, which only one
 * process can create, and the highest is never removed.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AssayError } from '../error.ts'

export interface DirectoryLock {
  release(): Promise<void>
}

/** What fits into a socket address on every system, with room for the file's name. */
const longestDirectory = 50

/** Makes the directory if need be. Throws STORAGE_LOCKED while somebody else holds the lock. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { path, remove } = shortPath(realpathSync(directory))
  try {
    const server = await listen(path)
    try {
      await become(path, server.name, directory)
      rmSync(join(path, server.name), { force: true })
    } catch (error) {
      await close(server.server)
      throw error
    }
    return { release: () => close(server.server) }
  } finally {
    remove()
  }
}

/** Links our listening socket as the next generation, unless the present one is alive. */
async function become(path: string, name: string, directory: string): Promise<void> {
  for (;;) {
    const current = Math.max(0, ...generations(path))
    if (current > 0) {
      const owner = await ownerOf(join(path, `lock.${current}`))
      if (owner !== undefined) throw locked(directory, owner)
    }
    const next = current + 1
    if (!link(join(path, name), join(path, `lock.${next}`))) continue
    // Somebody may have passed us between looking and linking.
    if (Math.max(...generations(path)) > next) {
      rmSync(join(path, `lock.${next}`), { force: true })
      continue
    }
    for (const generation of generations(path)) {
      if (generation < next) rmSync(join(path, `lock.${generation}`), { force: true })
    }
    return
  }
}

function generations(path: string): number[] {
  return readdirSync(path).flatMap((name) => {
    const number = /^lock\.(\d{1,15})$/.exec(name)?.[1]
    return number === undefined ? [] : [Number(number)]
  })
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** What the owner says of itself: empty when it is too busy to answer; undefined if it is dead. */
async function ownerOf(socketPath: string): Promise<string | undefined> {
  const socket = connect(socketPath)
  socket.setTimeout(500, () => socket.destroy())
  let said = ''
  socket.on('data', (data) => {
    said += data.toString()
  })
  try {
    await once(socket, 'close')
    return said.trim()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ECONNREFUSED' || code === 'ENOENT' ? undefined : ''
  } finally {
    socket.destroy()
  }
}

async function listen(path: string): Promise<{ server: Server; name: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.end(`process ${process.pid}`)
  })
  const name = `socket-${randomUUID().slice(0, 8)}`
  server.listen(join(path, name))
  await once(server, 'listening')
  server.unref()
  return { server, name }
}

/** Closing also removes the file that the socket was bound to; the lock's link stays. */
async function close(server: Server): Promise<void> {
  if (!server.listening) return
  server.close()
  await once(server, 'close')
}

/** A path that a socket address can hold: a link from the temporary folder when need be. */
function shortPath(directory: string): { path: string; remove: () => void } {
  if (Buffer.byteLength(directory) <= longestDirectory) {
    return { path: directory, remove: () => undefined }
  }
  const folder = mkdtempSync(join(tmpdir(), 'assay-'))
  const path = join(folder, 'd')
  symlinkSync(directory, path)
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Who came second is told so; `owner` is empty when it is not known. */
export function locked(directory: string, owner: string): AssayError {
  const who = owner === '' ? 'another process' : `another process (${owner})`
  return new AssayError('STORAGE_LOCKED', `${who} has the data directory ${directory} open`, {
    hint: 'stop it, or choose another directory with --data-dir',
  })
}
