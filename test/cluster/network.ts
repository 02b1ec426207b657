/** Hosts of a cluster on one machine: network namespaces that a bridge joins, so that each has its address and can be cut off. */
import { execFileSync, spawnSync } from 'node:child_process'

/** Names of interfaces have 15 characters at most. `cluster` tells clusters apart that run at the same time. */
function names(cluster: number, node: number) {
  const name = `assay${cluster}n${node}`
  return { namespace: name, outside: name, inside: `i${name}`, bridge: bridgeOf(cluster) }
}

function bridgeOf(cluster: number): string {
  return `assay${cluster}`
}

/** Nodes are counted from 1. */
export function addressOf(cluster: number, node: number): string {
  return `10.77.${cluster}.${node}`
}

/** What is missing for namespaces; undefined when nothing is. */
export function missingForNetwork(): string | undefined {
  if (process.platform !== 'linux') return 'Linux'
  if (process.getuid?.() !== 0) return 'root, who alone makes network namespaces'
  if (spawnSync('ip', ['-V']).status !== 0) return 'ip (Debian: iproute2)'
  const probe = `assay-probe-${process.pid}`
  const made = spawnSync('ip', ['netns', 'add', probe])
  if (made.status !== 0) return `network namespaces: ${String(made.stderr).trim()}`
  spawnSync('ip', ['netns', 'delete', probe])
  return undefined
}

export function makeNetwork(cluster: number, nodes: number): void {
  removeNetwork(cluster, nodes)
  const bridge = bridgeOf(cluster)
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('address', 'add', `10.77.${cluster}.254/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  for (let node = 1; node <= nodes; node++) {
    const { namespace, outside, inside } = names(cluster, node)
    ip('netns', 'add', namespace)
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', namespace)
    ip('link', 'set', outside, 'master', bridge, 'up')
    const within = ['-netns', namespace]
    ip(...within, 'address', 'add', `${addressOf(cluster, node)}/24`, 'dev', inside)
    ip(...within, 'link', 'set', inside, 'up')
    ip(...within, 'link', 'set', 'lo', 'up')
  }
}

export function removeNetwork(cluster: number, nodes: number): void {
  for (let node = 1; node <= nodes; node++) {
    const { namespace, outside } = names(cluster, node)
    spawnSync('ip', ['netns', 'delete', namespace])
    // Namespaces go later than their name, and their ends of links with them.
    spawnSync('ip', ['link', 'delete', outside])
  }
  spawnSync('ip', ['link', 'delete', bridgeOf(cluster)])
}

/** Before a command, to run it on the node's host. */
export function onHost(cluster: number, node: number): string[] {
  return ['ip', 'netns', 'exec', names(cluster, node).namespace]
}

/** Cuts the node off from all others, or joins it again. */
export function setLink(cluster: number, node: number, state: 'up' | 'down'): void {
  ip('link', 'set', names(cluster, node).outside, state)
}

/** Makes the node's link slow; false where this kernel cannot. */
export function delayLink(cluster: number, node: number, milliseconds: number): boolean {
  const device = ['dev', names(cluster, node).outside, 'root']
  const delay = ['netem', 'delay', `${milliseconds}ms`, `${Math.ceil(milliseconds / 2)}ms`]
  return spawnSync('tc', ['qdisc', 'replace', ...device, ...delay]).status === 0
}

export function undelayLink(cluster: number, node: number): void {
  spawnSync('tc', ['qdisc', 'delete', 'dev', names(cluster, node).outside, 'root'])
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
