/** Where users' exports may go: what whoever runs the service allows, and no other place. */
import { isAbsolute, resolve } from 'node:path'
import { AssayError } from '../error.ts'
import {
  type BucketPlace,
  isPlainPart,
  parseS3Address,
  readS3Settings,
  type S3Flags,
  type S3Secrets,
  type S3Settings,
} from './s3-settings.ts'

export interface ExportPlaces {
  /** Folders below which exports may be written; full paths. */
  readonly folders: readonly string[]
  /** Buckets, and in each what names have to begin with. */
  readonly buckets: readonly BucketPlace[]
  readonly s3: S3Settings
}

export interface ExportPlaceFlags extends S3Flags {
  readonly exportFolders?: string
  readonly exportBuckets?: string
}

interface Setting {
  readonly source: string
  readonly text: string | undefined
}

export function readExportPlaces(
  setting: (flag: keyof ExportPlaceFlags, name: string, variable: string) => Setting,
  secrets: S3Secrets,
  environment: NodeJS.ProcessEnv,
): ExportPlaces {
  const folders = setting('exportFolders', '--export-folders', 'ASSAY_EXPORT_FOLDERS')
  const buckets = setting('exportBuckets', '--export-buckets', 'ASSAY_EXPORT_BUCKETS')
  return {
    folders: listOf(folders).map((folder) => resolve(folder)),
    buckets: listOf(buckets).map((text) => readBucket(buckets.source, text)),
    s3: readS3Settings(setting, secrets, environment),
  }
}

function listOf({ text }: Setting): string[] {
  const parts = (text ?? '').split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

function readBucket(source: string, text: string): BucketPlace {
  const place = parseS3Address(text.startsWith('s3://') ? text : `s3://${text}`)
  if (place) return place
  throw new AssayError(
    'CONFIG_INVALID',
    `${source} must be buckets with commas between them, such as exports,shared/assay, not "${text.slice(0, 100)}"`,
  )
}

/** What an `export_path` names. */
export type ExportPlace =
  | { readonly kind: 'bucket'; readonly place: BucketPlace }
  | { readonly kind: 'folder'; readonly folder: string }

/**
 * The place that the text of a user names, which still has to be below an allowed folder where links lead. Throws
 * REQUEST_INVALID for what is no address, and ACCESS_DENIED for a place that is not allowed.
 */
export function placeOf(text: string, places: ExportPlaces): ExportPlace {
  const place = checkPlace(text)
  if (place.kind === 'bucket') {
    if (places.buckets.some((allowed) => isWithin(place.place, allowed))) return place
    throw notAllowed(text, '--export-buckets')
  }
  if (places.folders.some((allowed) => isBelow(place.folder, allowed))) return place
  throw notAllowed(text, '--export-folders')
}

/** The same, whether or not it is allowed. */
export function checkPlace(text: string): ExportPlace {
  if (text.startsWith('s3://')) {
    const place = parseS3Address(text)
    if (place) return { kind: 'bucket', place }
    throw noAddress(text)
  }
  const path = text.replace(/^file:\/\//, '')
  if (isAbsolute(path) && path.slice(1).replace(/\/$/, '').split('/').every(isPlainPart)) {
    return { kind: 'folder', folder: resolve(path) }
  }
  throw noAddress(text)
}

/** Whether a path is that of the folder, or of something in it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

function isWithin({ bucket, prefix }: BucketPlace, allowed: BucketPlace): boolean {
  return bucket === allowed.bucket && (allowed.prefix === '' || isBelow(prefix, allowed.prefix))
}

function noAddress(text: string): AssayError {
  return new AssayError('REQUEST_INVALID', `"${text.slice(0, 200)}" is no place for an export`, {
    path: 'config.export_path',
    hint: 'give s3://bucket/folder, or the full path of a folder',
  })
}

export function notAllowed(text: string, option: string): AssayError {
  return new AssayError('ACCESS_DENIED', `no export may be written to ${text.slice(0, 200)}`, {
    path: 'config.export_path',
    hint: `whoever runs the service allows places with ${option}`,
  })
}
