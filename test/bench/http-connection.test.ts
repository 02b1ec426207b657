/** The client that the comparison with other engines times answers by. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AssayClient } from '../../bench/peers/systems/assay-client.ts'
import { AnswerReader } from '../../bench/peers/systems/http-connection.ts'

const answers = {
  'a length': 'HTTP/1.1 200 OK\r\nx-a: b\r\nContent-Length: 10\r\n\r\n0123456789',
  'no body': 'HTTP/1.1 204 No Content\r\nx-a: b\r\n\r\n',
  chunks:
    'HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n012\r\n\r\n0b\r\n3456789abcd\r\n0\r\n\r\n',
  'no chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
}

describe('an answer with', () => {
  test.each(Object.entries(answers))('%s is the same wherever it is cut', (_, text) => {
    const bytes = Buffer.from(text)
    const whole = new AnswerReader().add(bytes)
    const status = Number(text.slice(9, 12))
    expect(whole?.status).toBe(status)
    for (let cut = 1; cut < bytes.length; cut++) {
      const reader = new AnswerReader()
      expect(reader.add(bytes.subarray(0, cut)), `cut at ${cut}`).toBeUndefined()
      expect(reader.add(bytes.subarray(cut)), `cut at ${cut}`).toEqual(whole)
    }
  })

  test('chunks has their bytes end to end', () => {
    const { body } = new AnswerReader().add(Buffer.from(answers.chunks))!
    expect(body.toString()).toBe('012\r\n3456789abcd')
  })

  test('anything but HTTP is refused', () => {
    expect(() => new AnswerReader().add(Buffer.from('SSH-2.0\r\n\r\n'))).toThrow(
      'no answer of HTTP',
    )
  })
})

describe('a client', () => {
  let server: Server
  let most = 0
  let open = 0
  const large = 'x'.repeat(3_000_000)

  beforeAll(async () => {
    server = createServer((request, response) => {
      open++
      most = Math.max(most, open)
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        open--
        const body = Buffer.concat(parts).toString()
        if (request.url === '/echo') response.end(`${request.method} ${body}`)
        else if (request.url === '/large')
          for (const part of [large, large, '']) response.write(part)
        else if (request.url === '/last') response.setHeader('connection', 'close').end('last')
        else response.writeHead(404).end('nothing here')
        response.end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })

  afterAll(() => {
    server.close()
  })

  function clientWith(connections: number) {
    const { port } = server.address() as AddressInfo
    return new AssayClient({ url: `http://127.0.0.1:${port}`, key: 'k', connections })
  }

  test('sends bodies, and takes short and long answers one after the other', async () => {
    const client = clientWith(1)
    expect((await client.post('/echo', 'größer')).toString()).toBe('POST größer')
    expect((await client.get('/large')).toString()).toBe(large + large)
    expect((await client.get('/echo')).toString()).toBe('GET ')
    client.close()
  })

  test('has as many requests under way as connections', async () => {
    const client = clientWith(3)
    most = 0
    const bodies = Array.from({ length: 20 }, (_, i) => `${i}`)
    const echoed = await Promise.all(bodies.map((body) => client.post('/echo', body)))
    expect(echoed.map(String)).toEqual(bodies.map((body) => `POST ${body}`))
    expect(most).toBeLessThanOrEqual(3)
    client.close()
  })

  test('opens a connection anew that the server has closed', async () => {
    const client = clientWith(1)
    for (let i = 0; i < 3; i++) expect((await client.get('/last')).toString()).toBe('last')
    await new Promise((resolve) => setImmediate(resolve))
    expect((await client.get('/last')).toString()).toBe('last')
    client.close()
  })

  test('throws what is no success', async () => {
    const client = clientWith(1)
    await expect(client.get('/other')).rejects.toThrow('/other: 404: nothing here')
    expect((await client.get('/echo')).toString()).toBe('GET ')
    client.close()
  })
})
