/** The export over TLS: to nodes whose certificate an authority of one's own has signed. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster, hasCluster } from '../cluster/cluster.ts'
import { isSlow } from '../support/random-seed.ts'
import { RunningService } from '../support/running-service.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const clusterNumber = 94

interface Certificate {
  readonly path: string
  readonly keyPath: string
}

function hasOpenSsl(): boolean {
  return spawnSync('openssl', ['version']).status === 0
}

/** Signed by itself, so that it is its own authority. */
function makeCertificate(): Certificate {
  const directory = temporaryDirectory()
  const [path, keyPath] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')]
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const form = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const to = ['-keyout', keyPath, '-out', path]
  execFileSync('openssl', ['req', ...form, '-days', '2', ...name, ...to], { stdio: 'ignore' })
  return { path, keyPath }
}

describe.runIf(isSlow && hasOpenSsl() && hasCluster())('an export over TLS', () => {
  let cluster: Cluster
  let proxy: Server
  let url: string
  let certificate: Certificate

  beforeAll(async () => {
    cluster = await Cluster.up({ shards: 1, replicas: 1, number: clusterNumber })
    certificate = makeCertificate()
    const { hostname, port } = new URL(cluster.urlOf(1))
    const [key, cert] = [certificate.keyPath, certificate.path].map((path) => readFileSync(path))
    proxy = createServer({ key: key!, cert: cert! }, (inside) => {
      const outside = connect(Number(port), hostname)
      inside.pipe(outside).pipe(inside)
      inside.on('error', () => outside.destroy())
      outside.on('error', () => inside.destroy())
    })
    // Of clients that do not trust it.
    proxy.on('tlsClientError', () => undefined)
    await new Promise<void>((resolve) => proxy.listen(0, 'localhost', resolve))
    const address = proxy.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    url = `https://localhost:${address.port}`
  })

  afterAll(() => {
    proxy.close()
    cluster.down()
  })

  async function exported(authority: string | undefined, expected: object): Promise<void> {
    const service = await RunningService.start({
      ASSAY_CLICKHOUSE: url,
      ASSAY_CLICKHOUSE_DATABASE: authority === certificate.path ? 'trusted' : 'untrusted',
      ...(authority !== undefined && { ASSAY_CLICKHOUSE_CA_FILE: authority }),
    })
    try {
      await service.insert('project_logs', await service.project(), [{ id: 'a' }, { id: 'b' }])
      const status = async () => (await service.request('/admin/status')).json.export
      await expect.poll(status).toMatchObject(expected)
    } finally {
      await service.stop()
    }
  }

  test('goes to a node whose authority is given', async () => {
    await exported(certificate.path, { state: 'current', fault: null })
    const rows = await cluster.ask(1, 'SELECT id FROM trusted.records ORDER BY id')
    expect(rows).toEqual([{ id: 'a' }, { id: 'b' }])
  })

  test.each<[string, () => string | undefined]>([
    ['another authority', () => makeCertificate().path],
    ['the system', () => undefined],
  ])('waits, and says why, where %s is all that is trusted', async (_, authority) => {
    await exported(authority(), {
      state: 'waiting',
      fault: {
        kind: 'unreachable',
        message: expect.stringMatching(/^localhost:\d+ cannot be reached: .*certificate/),
      },
      lag: { rows: 2 },
    })
    expect(await cluster.ask(1, `SHOW DATABASES LIKE 'untrusted'`)).toEqual([])
  })
})
