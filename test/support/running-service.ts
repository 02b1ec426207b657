import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Access } from '../../src/access/access.ts'
import { type Service, startService } from '../../src/cli/service.ts'
import { readConfig } from '../../src/config.ts'
import { createLogger } from '../../src/server/logger.ts'
import { transactionHeader } from '../../src/server/nodes/seen.ts'
import type { Route } from '../../src/server/route.ts'
import { PlainProxy } from './plain-proxy.ts'

export const testKey = 'sk-test-0123456789'

/** JSON of any shape: every step into it is allowed, and what is there is for `expect` to say. */
export interface AnyJson {
  readonly [key: string]: AnyJson
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Empty when it is not JSON. */
  readonly json: AnyJson
}

type Body = string | Uint8Array | AsyncIterable<Uint8Array>

export interface RequestOptions {
  readonly method?: string
  readonly body?: Body | object
  readonly headers?: Record<string, string>
  /** Null sends none. */
  readonly key?: string | null
}

/** Query nodes that follow a service, and a proxy before them that is asked in its place. */
class QueryNodes {
  readonly proxy: PlainProxy
  readonly #services: readonly Service[]
  readonly #folders: readonly string[]

  private constructor(proxy: PlainProxy, services: readonly Service[], folders: readonly string[]) {
    this.proxy = proxy
    this.#services = services
    this.#folders = folders
  }

  static async start(
    home: Service,
    count: number,
    environment: Record<string, string>,
    port: number,
  ): Promise<QueryNodes> {
    const folders = Array.from({ length: count }, newFolder)
    // A node exports nothing: its home does.
    const { ASSAY_CLICKHOUSE: _, ...others } = environment
    const of = { ...others, ASSAY_HOME: home.url, ASSAY_HOME_KEY: testKey }
    const services = await Promise.all(folders.map((folder) => openService(folder, of)))
    const urls = services.map(({ url }) => url)
    return new QueryNodes(await PlainProxy.start(urls, port), services, folders)
  }

  /** Resolves once each node is as far as the answer to a change tells. */
  async reach(told: Headers): Promise<void> {
    const headers = new Headers({ authorization: `Bearer ${testKey}` })
    for (const [name, value] of told) if (name.startsWith('x-bt-')) headers.set(name, value)
    await Promise.all(
      this.#services.map(async ({ url }) => {
        const { status } = await fetch(`${url}/admin/status`, { headers })
        if (status !== 200) throw new Error(`a node does not come as far: ${status}`)
      }),
    )
  }

  async close(): Promise<void> {
    await this.proxy.close()
    for (const service of this.#services) await service.close()
    for (const folder of this.#folders) rmSync(folder, { recursive: true })
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'assay-server-'))
}

/** A service in the process of the tests. */
function openService(
  directory: string,
  environment: Record<string, string>,
  port = 0,
): Promise<Service> {
  const config = readConfig(
    {
      port: String(port),
      dataDir: directory,
      workers: environment.ASSAY_WORKERS ?? '0',
      logLevel: 'silent',
    },
    {
      ...(!environment.ASSAY_HOME && { ASSAY_BOOTSTRAP_KEY: testKey }),
      ASSAY_OTLP_GRPC_PORT: 'off',
      ASSAY_HTTP_SERVER: process.env.ASSAY_HTTP_SERVER,
      ...environment,
    },
  )
  return startService(config, createLogger(config.logLevel))
}

/**
 * A service in a folder of its own, on a port of its own, and ways to talk to it. With `ASSAY_QUERY_NODES=2` in the
 * environment of the tests, two query nodes behind a plain proxy are asked in its place.
 */
export class RunningService {
  readonly url: string
  readonly directory: string
  readonly #service: Service
  readonly #environment: Record<string, string>

  readonly #nodes: QueryNodes | undefined

  private constructor(
    service: Service,
    directory: string,
    environment: Record<string, string>,
    nodes: QueryNodes | undefined,
  ) {
    this.#service = service
    this.#environment = environment
    this.#nodes = nodes
    this.url = nodes?.proxy.url ?? service.url
    this.directory = directory
  }

  /** @param port any free one when not given */
  static start(environment: Record<string, string> = {}, port = 0): Promise<RunningService> {
    return RunningService.#open(newFolder(), environment, port)
  }

  /** Over a folder that is there. */
  static over(
    directory: string,
    environment: Record<string, string> = {},
  ): Promise<RunningService> {
    return RunningService.#open(directory, environment)
  }

  /** The usual one, or the one that the environment of the tests chooses: `ASSAY_HTTP_SERVER=node`. */
  get httpServer(): 'uwebsockets' | 'node' {
    return this.#service.httpServer
  }

  static async #open(
    directory: string,
    environment: Record<string, string>,
    port = 0,
  ): Promise<RunningService> {
    const nodes = Number(process.env.ASSAY_QUERY_NODES ?? 0)
    // Addresses in its answers are to be those of its nodes.
    const home = { ASSAY_TRUST_PROXY: '1', ...environment }
    const service = await (nodes > 0
      ? openService(directory, home)
      : openService(directory, environment, port))
    const before = nodes > 0 ? await QueryNodes.start(service, nodes, environment, port) : undefined
    return new RunningService(service, directory, environment, before)
  }

  /**
   * Stops it and starts another over its folder with the same settings and `further` ones, on another port.
   *
   * @param between is done while the folder is nobody's
   */
  async restart(
    further: Record<string, string> = {},
    between?: () => Promise<void>,
  ): Promise<RunningService> {
    await this.#close()
    await between?.()
    return RunningService.#open(this.directory, { ...this.#environment, ...further })
  }

  /** Stops it; what is given back starts another over its folder, on the same port. */
  async halt(): Promise<() => Promise<RunningService>> {
    await this.#close()
    const port = Number(new URL(this.url).port)
    return () => RunningService.#open(this.directory, this.#environment, port)
  }

  get access(): Access {
    return this.#service.access
  }

  /** Of OTLP over gRPC, which is off unless the environment says otherwise. */
  get otlpGrpcPort(): number | undefined {
    return this.#service.otlpGrpcPort
  }

  get routes(): readonly Route[] {
    return this.#service.routes
  }

  async stop(): Promise<void> {
    await this.#close()
    rmSync(this.directory, { recursive: true })
  }

  async #close(): Promise<void> {
    await this.#nodes?.close()
    await this.#service.close()
  }

  async request(path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await this.fetch(path, options)
    const text = await response.text()
    // Whoever is asked next has it.
    if (response.headers.has(transactionHeader)) await this.#nodes?.reach(response.headers)
    return { status: response.status, headers: response.headers, text, json: parse(text) }
  }

  fetch(path: string, options: RequestOptions = {}, signal?: AbortSignal): Promise<Response> {
    const { key = testKey, body } = options
    return fetch(this.url + path, {
      method: options.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...options.headers },
      ...(body !== undefined && { body: encode(body), duplex: 'half' }),
      ...(signal && { signal }),
    } as RequestInit)
  }

  query(query: string, more: object = {}): Promise<Answer> {
    return this.request('/btql', { body: { query, ...more } })
  }

  /** Sends bytes as they are and returns what comes back until the server or `waitMs` ends it. */
  raw(text: string, waitMs = 1000): Promise<string> {
    return new Promise((resolve) => {
      const { hostname, port } = new URL(this.url)
      const socket = connect(Number(port), hostname, () => socket.write(text))
      let received = ''
      socket.on('data', (data) => {
        received += data.toString()
      })
      socket.on('error', () => undefined)
      const finish = () => {
        clearTimeout(timer)
        socket.destroy()
        resolve(received)
      }
      const timer = setTimeout(finish, waitMs)
      socket.on('close', finish)
    })
  }

  async project(name = 'p'): Promise<string> {
    return idOf(await this.request('/v1/project', { body: { name } }))
  }

  async create(type: 'experiment' | 'dataset', projectId: string, name = 'x'): Promise<string> {
    const body = { project_id: projectId, name }
    return idOf(await this.request(`/v1/${type}`, { body }))
  }

  insert(type: string, id: string, events: readonly object[]): Promise<Answer> {
    return this.request(`/v1/${type}/${id}/insert`, { body: { events } })
  }
}

function idOf({ status, json, text }: Answer): string {
  if (status !== 200 || typeof json.id !== 'string') throw new Error(text)
  return json.id
}

function encode(body: Body | object): Body {
  const isPlain = Object.getPrototypeOf(body) === Object.prototype
  return isPlain ? JSON.stringify(body) : (body as Body)
}

function parse(text: string): AnyJson {
  try {
    return JSON.parse(text) as AnyJson
  } catch {
    return {}
  }
}
