/** A systemd of its own that runs one unit: the first process of namespaces over a copy of this machine's files. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { run } from './language-tools.ts'

const systemd = '/lib/systemd/systemd'

/** Where groups of processes are made. */
const groups = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((place) => {
  return existsSync(join(place, 'cgroup.procs'))
})

export const canBootSystemd =
  process.getuid?.() === 0 &&
  groups !== undefined &&
  existsSync(systemd) &&
  spawnSync('unshare', ['--mount', '--pid', '--cgroup', '--fork', 'true']).status === 0

/** `$1` is a folder for all of it, which has `files` to be put over the root and `program` for /opt; `$2` the group. */
const boot = `set -e
echo $$ > "$2/cgroup.procs"
exec unshare --mount --pid --ipc --uts --cgroup --fork --kill-child sh -c '
  set -e
  mount --make-rprivate /
  mkdir "$1/layer" && mount -t tmpfs tmpfs "$1/layer" && cd "$1/layer" && mkdir upper work root
  mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root && mount --make-private root
  mount -t proc proc root/proc && mount --rbind /sys root/sys && mount --bind "$2" root/sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs root/dev && mkdir root/dev/shm root/dev/pts
  for device in null zero full random urandom tty; do
    touch root/dev/$device && mount --bind /dev/$device root/dev/$device
  done
  mount -t devpts -o newinstance,ptmxmode=0666 devpts root/dev/pts && ln -s pts/ptmx root/dev/ptmx
  mount -t tmpfs tmpfs root/dev/shm && mount -t tmpfs -o mode=755 tmpfs root/run
  mount -t tmpfs -o mode=1777 tmpfs root/tmp
  rm -rf root/etc/systemd/system && cp -a "$1/files/." root/ && mkdir -p root/opt/assay root/before
  cp -a "$1/program/." root/opt/assay
  cd root && pivot_root . before && umount -l /before && mount --make-rshared /
  exec env --ignore-environment container=other PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin \\
    ${systemd} --system --unit=assay.service --log-target=null --show-status=no
' sh "$1" "$2"`

export class BootedSystemd {
  readonly #folder: string
  readonly #group: string
  readonly #child: ChildProcess

  /**
   * @param program what belongs to /opt/assay
   * @param files by their paths; folders of them are made
   */
  constructor(program: string, files: Readonly<Record<string, string>>) {
    this.#folder = mkdtempSync(join(tmpdir(), 'assay-systemd-'))
    // Targets that a start of a whole machine would wait for.
    const targets = ['sysinit', 'basic', 'network-online', 'shutdown'].map((name) => {
      return [`/etc/systemd/system/${name}.target`, '[Unit]\nDefaultDependencies=no\n']
    })
    for (const [path, text] of [...Object.entries(files), ...targets]) {
      const file = join(this.#folder, 'files', path!)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text!, { mode: 0o600 })
    }
    symlinkSync(program, join(this.#folder, 'program'))
    this.#group = join(groups!, `assay-test-${process.pid}`)
    mkdirSync(this.#group)
    this.#child = spawn('sh', ['-c', boot, 'sh', this.#folder, this.#group])
  }

  /** Runs a command beside it, as root, and returns what it prints. */
  async execute(...command: string[]): Promise<string> {
    const { stdout } = spawnSync('pgrep', ['-P', String(this.#child.pid)], { encoding: 'utf8' })
    const place = ['--target', stdout.trim(), '--mount', '--pid', '--root', '--wd']
    return (await run('nsenter', [...place, ...command])).stdout
  }

  async stop(): Promise<void> {
    const exit = once(this.#child, 'close')
    this.#child.kill('SIGKILL')
    await exit
    await removeGroup(this.#group)
    rmSync(this.#folder, { recursive: true })
  }
}

/** Groups are removed from below, each once its last process is gone. */
async function removeGroup(folder: string): Promise<void> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeGroup(join(folder, entry.name))
  }
  while (/^populated 1$/m.test(readFileSync(join(folder, 'cgroup.events'), 'utf8'))) await wait(20)
  rmdirSync(folder)
}
