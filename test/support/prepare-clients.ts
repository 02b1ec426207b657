/** Installs what the tests of clients in other languages, of other versions of Node and of a cluster need, before tests that take the time. */
import { readdirSync } from 'node:fs'
import { hasCluster, installClickHouse } from '../cluster/cluster.ts'
import {
  deploymentReader,
  goMissing,
  goProgram,
  JavaPrograms,
  javaMissing,
} from './client-programs.ts'
import { minioMissing, minioProgram } from './minio.ts'
import { nodeProgram, otherNodeVersions } from './node-versions.ts'
import { PythonEnvironment, pythonMissing } from './python-environment.ts'

const requirements = [
  ...readdirSync(new URL('../clients/python', import.meta.url)).filter((name) =>
    name.startsWith('requirements-'),
  ),
  '../openapi/requirements.txt',
]

/** One environment after the other, while Go builds. */
async function preparePython(): Promise<void> {
  for (const name of requirements) await PythonEnvironment.prepare(name)
}

async function prepareGo(): Promise<void> {
  await goProgram()
  await deploymentReader()
  if (!minioMissing) await minioProgram()
}

if (hasCluster()) installClickHouse()
await Promise.all([
  ...(pythonMissing ? [] : [preparePython()]),
  ...(goMissing ? [] : [prepareGo()]),
  ...(javaMissing ? [] : [JavaPrograms.prepare()]),
  ...otherNodeVersions.map(nodeProgram),
])
