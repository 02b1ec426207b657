import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { HomeConnection } from '../../../src/server/nodes/home-connection.ts'

/** Answers the first request of each connection, and resets the connection at the next: as if it had been closed just before. */
async function forgetfulHome(): Promise<HomeConnection> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let requests = 0
    socket.on('error', () => undefined)
    socket.on('data', () => {
      if (requests++ > 0) socket.resetAndDestroy()
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connection = new HomeConnection(`http://127.0.0.1:${port}`, 'key')
  onTestFinished(() => {
    connection.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return connection
}

test('what only reads is asked again where a free connection was closed', async () => {
  const home = await forgetfulHome()
  for (let i = 0; i < 4; i++) {
    expect(await home.askForJson('/admin/status')).toEqual({})
    expect((await home.postForBytes('/admin/backup/read', '{}')).toString()).toBe('{}')
  }
})

test('what changes something is not sent twice', async () => {
  const home = await forgetfulHome()
  await home.askForJson('/admin/status')
  const change = {
    method: 'POST',
    path: '/v1/project',
    headers: {},
    body: Buffer.from('{}'),
    signal: AbortSignal.timeout(5000),
  }
  await expect(home.send(change)).rejects.toMatchObject({ code: 'HOME_UNAVAILABLE' })
})
