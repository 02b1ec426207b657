/**
 * The image of `.deploy/Dockerfile`, built by buildah without a daemon and without a registry: what it is based on is
 * made of Debian's packages and of Node from npm, under the name that the Dockerfile has. Its containers are processes
 * with namespaces of their own.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { madeOnce, run } from './language-tools.ts'

const repository = new URL('../..', import.meta.url).pathname
const baseName = 'docker.io/library/node:24-trixie-slim'
const nodeVersion = '24.21.0'

/** Root is needed for namespaces and file systems of others. */
export const canBuildImages =
  process.getuid?.() === 0 &&
  ['buildah', 'debootstrap', 'unshare', 'nsenter'].every((tool) => {
    return spawnSync(tool, ['--version']).status === 0
  })

/** What the image says of how it is run. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Healthcheck: { readonly Test: readonly string[] }
  readonly Volumes: Readonly<Record<string, object>>
}

export class ContainerImage {
  readonly config: ImageConfig
  readonly #storage: string
  readonly #root: string

  private constructor(storage: string, config: ImageConfig, root: string) {
    this.#storage = storage
    this.config = config
    this.#root = root
  }

  /** Takes some minutes. */
  static async build(): Promise<ContainerImage> {
    const storage = mkdtempSync(join(tmpdir(), 'assay-image-'))
    const buildah = (...args: string[]) => runBuildah(storage, args)
    const base = await madeOnce('debian', [baseName, nodeVersion], makeBase)
    const form = ['--isolation', 'chroot', '--format', 'docker', '--pull-never']
    // What a machine needs to reach the registry of packages, and what it has of it already.
    const certificates = process.env.NODE_EXTRA_CA_CERTS
    const trusted = certificates && '/etc/ssl/certs/of-the-machine.pem'
    if (certificates) cpSync(certificates, join(base, trusted!))
    const lines = [
      'FROM scratch',
      'COPY . /',
      'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ]
    if (trusted) lines.push(`ENV NODE_EXTRA_CA_CERTS=${trusted}`)
    writeFileSync(join(storage, 'base'), lines.join('\n'))
    await buildah('build', ...form, '--file', join(storage, 'base'), '--tag', baseName, base)
    const { stdout: cache } = await run('npm', ['config', 'get', 'cache'])
    const kept = ['--volume', `${cache.trim()}:/root/.npm`]
    const file = join(repository, '.deploy/Dockerfile')
    await buildah('build', ...form, ...kept, '--file', file, '--tag', 'assay', repository)
    const told = JSON.parse(await buildah('inspect', '--type', 'image', 'assay'))
    const container = await buildah('from', '--pull-never', 'assay')
    const root = await buildah('mount', container)
    return new ContainerImage(storage, told.Docker.config, root)
  }

  /**
   * A container of the image: its user without rights, its first process, a root that may only be read and no
   * folder to write to but the volume. It shares the machine's network.
   *
   * @param volume a folder; another container may have had it before
   */
  start(volume: string, environment: Readonly<Record<string, string>>): Container {
    const given = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    return new Container(this.#root, this.config, volume, [...this.config.Env, ...given])
  }

  async remove(): Promise<void> {
    await runBuildah(this.#storage, ['rm', '--all'])
    await runBuildah(this.#storage, ['rmi', '--all', '--force'])
    rmSync(this.#storage, { recursive: true })
  }
}

const ownNamespaces = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child']

/** What a runtime of containers prepares: `$1` is the root, `$2` the volume, `$3` where it belongs, `$4` the user's number. */
const prepare = `set -e
mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"
mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for device in null zero random urandom; do
  touch "$1/dev/$device" && mount --bind "/dev/$device" "$1/dev/$device"
done
mount --bind "$2" "$1$3"
root=$1 user=$4 && shift 4
exec chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all env --ignore-environment "$@"`

export class Container {
  readonly exit: Promise<number | null>
  readonly #child: ChildProcess
  readonly #config: ImageConfig
  readonly #environment: readonly string[]
  #output = ''

  constructor(root: string, config: ImageConfig, volume: string, environment: readonly string[]) {
    const { User, WorkingDir, Entrypoint, Cmd, Volumes } = config
    const [place] = Object.keys(Volumes)
    const command = [`--chdir=${WorkingDir}`, ...environment, ...Entrypoint, ...Cmd]
    const args = [root, volume, place!, User.split(':')[0]!, ...command]
    this.#config = config
    this.#environment = environment
    this.#child = spawn('unshare', [...ownNamespaces, 'sh', '-c', prepare, 'sh', ...args])
    this.exit = once(this.#child, 'close').then(([code]) => code)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (text) => {
        this.#output += text
      })
    }
  }

  get output(): string {
    return this.#output
  }

  /** What the image's health check ends with. */
  isHealthy(): Promise<boolean> {
    const [, ...check] = this.#config.Healthcheck.Test
    return this.execute(check).then(
      () => true,
      () => false,
    )
  }

  /** Runs a command in the container, as its user, and returns what it prints. */
  async execute(command: readonly string[]): Promise<string> {
    const user = this.#config.User.split(':')[0]!
    const as = ['setpriv', '--reuid', user, '--regid', user, '--clear-groups']
    const place = ['--target', String(this.#first()), '--pid', '--mount', '--root', '--wd']
    const environment = ['env', '--ignore-environment', ...this.#environment]
    const { stdout } = await run('nsenter', [...place, ...as, ...environment, ...command])
    return stdout
  }

  /** What the kernel says of the first process: its user, rights and signals. */
  status(): string {
    const file = `/proc/${this.#first()}/status`
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    process.kill(this.#first(), name)
  }

  /** The first process of the container, by its number outside. */
  #first(): number {
    const { stdout } = spawnSync('pgrep', ['-P', String(this.#child.pid)], { encoding: 'utf8' })
    return Number(stdout)
  }
}

async function runBuildah(storage: string, args: readonly string[]): Promise<string> {
  const place = ['--root', join(storage, 'images'), '--runroot', join(storage, 'run')]
  const options = { maxBuffer: 64 * 2 ** 20, cwd: repository }
  const { stdout } = await run('buildah', [...place, '--storage-driver', 'vfs', ...args], options)
  return stdout.trim()
}

async function makeBase(folder: string): Promise<void> {
  const source = 'http://deb.debian.org/debian'
  const options = { maxBuffer: 64 * 2 ** 20 }
  const kind = ['--variant=minbase', '--include=ca-certificates']
  await run('debootstrap', [...kind, 'trixie', folder, source], options)
  const modules = mkdtempSync(join(tmpdir(), 'assay-node-'))
  await run('npm', [
    'install',
    '--prefix',
    modules,
    '--ignore-scripts',
    `node-linux-${process.arch}@${nodeVersion}`,
  ])
  const binary = join(modules, `node_modules/node-linux-${process.arch}/bin/node`)
  cpSync(binary, join(folder, 'usr/local/bin/node'))
  chmodSync(join(folder, 'usr/local/bin/node'), 0o755)
  const { stdout } = await run('npm', ['root', '--global'])
  const npm = join(folder, 'usr/local/lib/node_modules/npm')
  mkdirSync(dirname(npm), { recursive: true })
  cpSync(join(stdout.trim(), 'npm'), npm, { recursive: true })
  await run('ln', [
    '-s',
    '../lib/node_modules/npm/bin/npm-cli.js',
    join(folder, 'usr/local/bin/npm'),
  ])
  rmSync(modules, { recursive: true })
  if (!existsSync(npm)) throw new Error('npm is not where it says')
}
