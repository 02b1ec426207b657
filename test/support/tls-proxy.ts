/** nginx or Caddy on HTTPS before a service, with the files of `.deploy` as people are told to use them. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import type { AnyJson } from './running-service.ts'

export type ProxyKind = 'nginx' | 'caddy'

/** Whether the machine has the proxy, and what makes certificates. */
export function hasProxy(kind: ProxyKind): boolean {
  const version = kind === 'nginx' ? ['nginx', '-v'] : ['caddy', 'version']
  const isThere = [version, ['openssl', 'version']].every(([command, argument]) => {
    return spawnSync(command!, [argument!]).status === 0
  })
  if (!isThere) console.log(`left out: a service behind ${kind}, which is not installed`)
  return isThere
}

export interface ProxyAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Empty when it is not JSON. */
  readonly json: AnyJson
}

interface SentRequest {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array | Iterable<Uint8Array>
}

export class TlsProxy {
  /** Where people reach the service: `https://localhost:1234/assay`. */
  readonly url: string
  readonly plainUrl: string
  /** What the proxy's name is proven by. */
  readonly certificate: string
  readonly #kind: ProxyKind
  readonly #path: string
  readonly #folder: string
  readonly #port: number
  readonly #plainPort: number
  #child: ChildProcess | undefined
  #output = ''

  private constructor(kind: ProxyKind, path: string, port: number, plainPort: number) {
    this.#kind = kind
    this.#path = path
    this.#port = port
    this.#plainPort = plainPort
    this.#folder = mkdtempSync(join(tmpdir(), `assay-${kind}-`))
    this.url = `https://localhost:${port}${path}`
    this.plainUrl = `http://localhost:${plainPort}${path}`
    const to = ['-keyout', this.#file('key.pem'), '-out', this.#file('certificate.pem')]
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const form = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    execFileSync('openssl', ['req', ...form, '-days', '2', ...name, ...to], { stdio: 'ignore' })
    this.certificate = readFileSync(this.#file('certificate.pem'), 'utf8')
  }

  /** @param path below which the service is, or nothing */
  static async prepare(kind: ProxyKind, path: '' | '/assay'): Promise<TlsProxy> {
    return new TlsProxy(kind, path, await freePort(), await freePort())
  }

  /** Resolves when requests are passed on. */
  async serve(service: { readonly url: string; readonly otlpGrpcPort: number | undefined }) {
    const ports = { http: new URL(service.url).port, grpc: String(service.otlpGrpcPort) }
    const command = this.#kind === 'nginx' ? this.#nginx(ports) : this.#caddy(ports)
    const environment = { ...process.env, HOME: this.#folder, XDG_DATA_HOME: this.#folder }
    this.#child = spawn(command[0]!, command.slice(1), { env: environment })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (text) => {
        this.#output += text
      })
    }
    while (!(await isOpen(this.#port))) {
      if (this.#child.exitCode !== null) throw new Error(`${this.#kind} ended: ${this.#output}`)
      await wait(20)
    }
  }

  /** Sends bytes as they are, through the proxy. */
  async send(path: string, sent: SentRequest = {}): Promise<ProxyAnswer> {
    const answer = await this.open(path, sent)
    let text = ''
    for await (const part of answer.setEncoding('utf8')) text += part
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    const { statusCode: status = 0, headers } = answer
    return { status, headers, text, json: isJson ? JSON.parse(text) : {} }
  }

  /** An answer that is read as it comes. `path` may also be a whole URL. */
  open(path: string, { method, headers, body }: SentRequest = {}): Promise<IncomingMessage> {
    const url = /^https?:/.test(path) ? path : this.url + path
    const ask = url.startsWith('https:') ? request : plainRequest
    return new Promise((resolve, reject) => {
      const sent = ask(url, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: headers ?? {},
        ca: this.certificate,
        agent: false,
      })
      sent.on('response', resolve)
      sent.on('error', reject)
      if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
        sent.end(body)
      } else Readable.from(body).pipe(sent)
    })
  }

  async stop(): Promise<void> {
    if (this.#child && this.#child.exitCode === null) {
      this.#child.kill('SIGTERM')
      await once(this.#child, 'exit')
    }
    rmSync(this.#folder, { recursive: true })
  }

  #file(name: string): string {
    return join(this.#folder, name)
  }

  #nginx({ http, grpc }: { http: string; grpc: string }): string[] {
    const site = changed('nginx.conf', [
      ['listen 80;', `listen 127.0.0.1:${this.#plainPort};`],
      ['listen [::]:80;', ''],
      ['listen 443 ssl http2;', `listen 127.0.0.1:${this.#port} ssl http2;`],
      ['listen [::]:443 ssl http2;', ''],
      ['server_name assay.example.com;', 'server_name localhost;'],
      ['/etc/ssl/certs/assay.example.com.pem', this.#file('certificate.pem')],
      ['/etc/ssl/private/assay.example.com.key', this.#file('key.pem')],
      ['https://$host$request_uri', `https://$host:${this.#port}$request_uri`],
      ['127.0.0.1:8000', `127.0.0.1:${http}`],
      ['127.0.0.1:4317', `127.0.0.1:${grpc}`],
    ])
    writeFileSync(this.#file('site.conf'), this.#path === '' ? site : belowPath(site))
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${this.#file(name)};`,
    )
    const isRoot = process.getuid?.() === 0
    const main = [
      ...(isRoot ? ['user root;'] : []),
      'daemon off;',
      `pid ${this.#file('pid')};`,
      'error_log stderr;',
      'events {}',
      `http { access_log off; ${folders.join(' ')} include ${this.#file('site.conf')}; }`,
    ]
    writeFileSync(this.#file('main.conf'), main.join('\n'))
    return ['nginx', '-e', 'stderr', '-p', this.#folder, '-c', this.#file('main.conf')]
  }

  #caddy({ http, grpc }: { http: string; grpc: string }): string[] {
    const tls = `tls ${this.#file('certificate.pem')} ${this.#file('key.pem')}`
    const site = changed('Caddyfile', [
      ['\nassay.example.com {', `\nhttps://localhost:${this.#port} {\n\tbind 127.0.0.1\n\t${tls}`],
      ['127.0.0.1:8000', `127.0.0.1:${http}`],
      ['127.0.0.1:4317', `127.0.0.1:${grpc}`],
    ])
    const own = `{\n\tadmin off\n\thttp_port ${this.#plainPort}\n\thttps_port ${this.#port}\n}\n`
    writeFileSync(this.#file('Caddyfile'), own + (this.#path === '' ? site : belowPath(site)))
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', this.#file('Caddyfile')]
  }
}

/** A file of `.deploy` with other names and ports; each of them must be there. */
function changed(name: string, changes: readonly (readonly [string, string])[]): string {
  let text = readFileSync(new URL(`../../.deploy/${name}`, import.meta.url), 'utf8')
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`)
    text = text.replaceAll(from, to)
  }
  return text
}

/** What the comment says that begins with "In place of that": the block before it goes, its lines come. */
function belowPath(text: string): string {
  const [, indent] = /\n([ \t]+)# In place of that/.exec(text)!
  const block = new RegExp(`\\n${indent}(location /|handle) \\{\\n(?:.|\\n)*?\\n${indent}\\}\\n\\n`)
  const [before, after] = text.replace(block, '\n').split(/ *\t*# In place of that.*\n/)
  const [lines, rest] = after!.split(new RegExp(`\\n(?!${indent}# )((?:.|\\n)*)`))
  return `${before}${lines!.replaceAll(`${indent}# `, indent!)}\n${rest}`
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
