/**
 * Where the service's own files are: `src` and `workers` of the repository, or what is built of them, in `dist`.
 * A build puts many modules into one file, so no other module may know where it is itself.
 */

/** Whether this runs from the sources. */
export const isSource = import.meta.url.endsWith('.ts')

/** The folder that has `src` and `workers`. Built files lie in a folder of it, as this one does. */
const code = new URL('..', import.meta.url)

/** The folder of the package: that of the repository, or where it was installed. */
const packageFolder = isSource ? code : new URL('..', code)

/** A file that the code needs beside it, by its path in the repository: `src/kernel/kernels.wasm`. */
export function codeFile(path: string): URL {
  return new URL(isSource ? path : path.replace(/\.ts$/, '.js'), code)
}

/** A file of the build, whether this runs from the sources or not: of the page, which only a build has. */
export function builtFile(path: string): URL {
  return new URL(`dist/${path}`, packageFolder)
}

/** A file of the package: `package.json`. */
export function packageFile(path: string): URL {
  return new URL(path, packageFolder)
}
