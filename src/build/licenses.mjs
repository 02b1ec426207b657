/** Gathers the licenses of all packages that a build has put into its files: they ask to be passed on. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param root the folder that the files are relative to
 * @param files of packages and others
 * @returns the licenses of the packages, one after the other
 */
export function licensesOf(root, files) {
  const folders = files.flatMap((file) => {
    const [folder] = /^.*node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []
    return folder === undefined ? [] : [join(root, folder)]
  })
  return [...new Set(folders)].sort().map(licenseOf).join('\n')
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)\b/i.test(each))
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
  return `${'='.repeat(80)}\n${name} ${version}, ${license}\n\n${text}\n`
}
