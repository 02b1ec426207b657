/** What programs of `test/clients` in Go and Java are run with. */
import { join } from 'node:path'
import { findTool, madeOnce, run } from './language-tools.ts'

const clients = new URL('../clients/', import.meta.url).pathname

/** As `go.mod` asks for. */
const go = findTool('Go', ['go', 'version'], (text) => Number(/go1\.(\d+)/.exec(text)?.[1]) >= 26)
export const goMissing = go === undefined

/** Builds `test/clients/go`, and returns where the program is. */
export function goProgram(): Promise<string> {
  return builtGo('go', join(clients, 'go'))
}

/** Builds `test/deploy/go`, and returns where the program is. */
export function deploymentReader(): Promise<string> {
  return builtGo('go-deploy', join(clients, '../deploy/go'))
}

async function builtGo(name: string, folder: string): Promise<string> {
  const sources = ['go.mod', 'go.sum', 'main.go'].map((name) => join(folder, name))
  const made = await madeOnce(name, [go!, ...sources], async (made) => {
    const env = { ...process.env, GOTOOLCHAIN: 'local' }
    await run('go', ['build', '-o', join(made, 'program'), '.'], { cwd: folder, env })
  })
  return join(made, 'program')
}

const java = findTool('Java', ['java', '-version'], (text) => {
  return Number(/version "(\d+)/.exec(text)?.[1]) >= 17
})
export const javaMissing = !java || !findTool('Java', ['mvn', '--batch-mode', '--version'])

/** Downloads the libraries of `test/clients/java/pom.xml`, and returns their folder. */
function javaLibraries(): Promise<string> {
  const project = join(clients, 'java', 'pom.xml')
  return madeOnce('java', [project], async (made) => {
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${made}`]
    await run('mvn', ['--quiet', '--batch-mode', '--file', project, ...copy])
  })
}

/** Programs of one file each, run from source with the libraries. */
export class JavaPrograms {
  readonly #libraries: string

  private constructor(libraries: string) {
    this.#libraries = libraries
  }

  static async prepare(): Promise<JavaPrograms> {
    return new JavaPrograms(await javaLibraries())
  }

  /** @returns what the program prints */
  async run(program: string, environment: Record<string, string>): Promise<string> {
    const options = ['-Dfile.encoding=UTF-8', '-XX:TieredStopAtLevel=1']
    const source = join(clients, 'java', program)
    const args = [...options, '-cp', join(this.#libraries, '*'), source]
    const { stdout } = await run('java', args, { env: { PATH: process.env.PATH, ...environment } })
    return stdout
  }
}
