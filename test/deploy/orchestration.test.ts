/** The chart and the compose file of `.deploy`, read by the libraries of Helm, Kubernetes and Docker Compose. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { deploymentReader, goMissing } from '../support/client-programs.ts'
import { PythonEnvironment, pythonMissing } from '../support/python-environment.ts'
import type { AnyJson } from '../support/running-service.ts'

const deploy = new URL('../../.deploy/', import.meta.url).pathname
const { version } = JSON.parse(readFileSync(join(deploy, '../package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'assay-deploy-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('the chart is of this version', () => {
  const chart = readFileSync(join(deploy, 'helm/assay/Chart.yaml'), 'utf8')
  expect(chart).toContain(`\nversion: ${version}\n`)
  expect(chart).toContain(`\nappVersion: ${version}\n`)
})

const variants: Readonly<Record<string, object>> = {
  defaults: {},
  'a key': { bootstrapKey: 'sk-0123456789' },
  'a secret that is there': { existingSecret: 'keys', bootstrapKey: 'sk-is-not-used' },
  'an ingress': { ingress: { enabled: true, host: 'a.example.com', tls: { enabled: false } } },
  'an ingress with a path': {
    ingress: { enabled: true, host: 'a.example.com', path: '/o/assay.1/' },
  },
  everything: {
    image: { repository: 'registry.example.com/assay', tag: '1', pullPolicy: 'Always' },
    imagePullSecrets: [{ name: 'pull' }],
    bootstrapKey: 'sk-"quotes"-$and{{braces}}:#',
    publicUrl: 'https://b.example.com/x/',
    trustedProxies: 2,
    extraEnv: [
      { name: 'ASSAY_LOG_LEVEL', value: 'warn' },
      { name: 'ASSAY_LLM_KEY', valueFrom: { secretKeyRef: { name: 'm', key: 'k' } } },
    ],
    service: { type: 'LoadBalancer', port: 80, grpcPort: 4318, annotations: { a: 'b' } },
    ingress: { enabled: true, className: 'nginx', path: '/assay', annotations: { c: 'd' } },
    persistence: { size: '1Ti', storageClass: 'fast' },
    serviceAccount: { create: true, name: 'own' },
    podAnnotations: { e: 'f' },
    podLabels: { g: 'h' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'only', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
  },
  'a claim that is there': {
    persistence: { existingClaim: 'records', storageClass: '-' },
    serviceAccount: { create: false },
  },
}

describe.skipIf(goMissing)('the chart', () => {
  let reader: string
  beforeAll(async () => {
    reader = await deploymentReader()
  })

  const render = (values: object) => {
    const { status, stdout, stderr } = spawnSync(reader, ['chart', join(deploy, 'helm/assay')], {
      input: JSON.stringify(values),
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(stderr)
    return JSON.parse(stdout) as { objects: AnyJson[]; notes: string }
  }
  const rendered = (values: object) => {
    const { objects, notes } = render(values)
    const of = (kind: string) => objects.find((object) => String(object.kind) === kind)
    const pod = of('StatefulSet')!.spec!.template!.spec!
    const container = pod.containers![0]!
    const env = (container.env as unknown as { name: string; value?: string }[]) ?? []
    const environment = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    return { of, pod, container, env, environment, notes }
  }

  test.skipIf(pythonMissing)('makes objects that Kubernetes takes, old and new', async () => {
    const python = await PythonEnvironment.prepare('requirements-kubernetes.txt')
    const files = Object.values(variants).flatMap((values, variant) =>
      render(values).objects.map((object, i) => {
        const file = join(folder, `${variant}-${i}.json`)
        writeFileSync(file, JSON.stringify(object))
        return file
      }),
    )
    for (const kubernetes of ['1.25', '1.37']) {
      const args = ['kubernetes_validate', '-k', kubernetes, '--strict', '--quiet', ...files]
      await python.runModule(args, {})
    }
  })

  test('runs one process as a user without rights, with nothing to write to but its volume', () => {
    const { of, pod, container } = rendered({})
    expect(of('StatefulSet')!.spec).toMatchObject({ replicas: 1 })
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10001 },
    })
    expect(container.image).toBe(`assay:${version}`)
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  test('the settings are such that the service takes', () => {
    for (const values of Object.values(variants)) {
      const { environment } = rendered(values)
      const given = Object.entries(environment).filter(([, value]) => value !== undefined)
      expect(() => readConfig({}, Object.fromEntries(given))).not.toThrow()
    }
  })

  test('an ingress tells the service where it is reached', () => {
    const atRoot = rendered(variants['an ingress']!)
    expect(atRoot.environment).toMatchObject({
      ASSAY_PUBLIC_URL: 'http://a.example.com',
      ASSAY_TRUST_PROXY: '1',
    })
    const below = rendered(variants['an ingress with a path']!)
    expect(below.environment.ASSAY_PUBLIC_URL).toBe('https://a.example.com/o/assay.1')
    const ingress = below.of('Ingress')!
    const pattern = String(ingress.spec!.rules![0]!.http!.paths![0]!.path)
    expect('/o/assay.1/btql/stream'.replace(new RegExp(`^${pattern}`), '/$2')).toBe('/btql/stream')
    expect('/o/assay.1').toMatch(new RegExp(`^${pattern}`))
    expect('/o/assay-1/btql').not.toMatch(new RegExp(`^${pattern}`))
    expect(ingress.metadata!.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/rewrite-target': '/$2',
    })
    expect(below.notes).toContain('Open https://a.example.com/o/assay.1')
    expect(rendered(variants.everything!).environment).toMatchObject({
      ASSAY_PUBLIC_URL: 'https://b.example.com/x',
      ASSAY_TRUST_PROXY: '2',
    })
  })

  test('the first key comes from a secret, or is made up', () => {
    const own = rendered(variants.everything!)
    const key = Buffer.from(String(own.of('Secret')!.data!['bootstrap-key']), 'base64').toString()
    expect(key).toBe('sk-"quotes"-$and{{braces}}:#')
    const from = (name: string) => [
      expect.objectContaining({
        name: 'ASSAY_BOOTSTRAP_KEY',
        valueFrom: { secretKeyRef: { name, key: 'bootstrap-key' } },
      }),
    ]
    expect(own.env).toEqual(expect.arrayContaining(from('records-assay')))
    const other = rendered(variants['a secret that is there']!)
    expect(other.of('Secret')).toBeUndefined()
    expect(other.env).toEqual(expect.arrayContaining(from('keys')))
    expect(other.notes).toContain('get secret keys')
    const none = rendered({})
    expect(none.of('Secret')).toBeUndefined()
    expect(none.notes).toContain('the log of the first start has it')
  })

  test.each([
    [{ bootstrapKey: 'short' }, '/bootstrapKey'],
    [{ bootstrapkey: 'sk-0123456789' }, 'bootstrapkey'],
    [{ publicUrl: 'assay.example.com' }, '/publicUrl'],
    [{ ingress: { enabled: true, path: 'assay' } }, '/ingress/path'],
    [{ persistence: { size: '20 GB' } }, '/persistence/size'],
    [{ terminationGracePeriodSeconds: 5 }, '/terminationGracePeriodSeconds'],
  ])('values that cannot be right are refused: %j', (values, place) => {
    expect(() => render(values)).toThrow(place)
  })

  test('Docker Compose reads its file', () => {
    const place = join(folder, 'repository/.deploy')
    mkdirSync(place, { recursive: true })
    const text = readFileSync(join(deploy, 'compose.yaml'))
    writeFileSync(join(place, 'compose.yaml'), text)
    const project = JSON.parse(
      execFileSync(reader, ['compose', join(place, 'compose.yaml')], { encoding: 'utf8' }),
    ) as AnyJson
    const { assay } = project.services as { assay: AnyJson }
    expect(assay).toMatchObject({
      image: `assay:${version}`,
      read_only: true,
      stop_grace_period: '1m0s',
      build: { context: join(folder, 'repository'), dockerfile: '.deploy/Dockerfile' },
      environment: { ASSAY_BOOTSTRAP_KEY_FILE: '/run/secrets/bootstrap-key' },
    })
    expect(assay.ports).toEqual(
      ['8000', '4317'].map((published) =>
        expect.objectContaining({ published, host_ip: '127.0.0.1' }),
      ),
    )
    expect(readdirSync(deploy)).toContain('Dockerfile')
  })
})
