import { AssayError, type ErrorDetails } from '../error.ts'
import type { Permission } from './permission.ts'

/** The one answer to an object that is not there and to one that may not be touched. */
export function missingAccess(
  permission: Permission,
  type: string,
  id: string,
  details: ErrorDetails = {},
): AssayError {
  const shown = id.length > 100 ? `${id.slice(0, 100)}…` : id
  return new AssayError(
    'ACCESS_DENIED',
    `Missing ${permission} access to ${type} id ${shown}, or the ${type} does not exist`,
    details,
  )
}

/**
 * The same of what a body names rather than the path, or of what is to be removed: recorded answers
 * to these are faults of the request.
 */
export function missingReference(
  permission: Permission,
  type: string,
  id: string,
  path: string,
): AssayError {
  const { message } = missingAccess(permission, type, id)
  return new AssayError('REQUEST_INVALID', message, { path })
}
