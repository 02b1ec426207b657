/** Errors as gRPC tells them. */
import { type AssayError, type ErrorCode, errorCodes } from '../../error.ts'

/** gRPC's codes, by the HTTP status that errors have. */
const codes: ReadonlyMap<number, number> = new Map([
  [400, 3],
  [401, 16],
  [403, 7],
  [404, 5],
  [413, 8],
  [429, 8],
  [499, 1],
  [501, 12],
  [503, 14],
  [504, 4],
  [507, 8],
])
const internal = 13

/** One of gRPC's codes. */
export function grpcCode(code: ErrorCode): number {
  return codes.get(errorCodes[code].status) ?? internal
}

/** After how long to try again; undefined where that is of no use. */
export function retrySeconds({ status, retryAfterSeconds }: AssayError): number | undefined {
  return status === 429 || status === 503 ? (retryAfterSeconds ?? 1) : undefined
}
