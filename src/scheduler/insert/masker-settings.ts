import { AssayError } from '../../error.ts'

export const maskerFailures = ['refuse', 'mask', 'store'] as const

/** A service of the operator that masks rows before they are stored. */
export interface MaskerSettings {
  readonly url: string
  /** Sent as a bearer token. */
  readonly token: string | undefined
  /** For one request. */
  readonly seconds: number
  /** When it does not answer: the insert is refused, whole values are masked, or rows are stored as they came. */
  readonly failure: (typeof maskerFailures)[number]
}

const mostSeconds = 60

/** From environment variables: what is sent there is for nobody to choose but the operator. */
export function readMaskerSettings(
  environment: NodeJS.ProcessEnv,
  token: string | undefined,
): MaskerSettings | undefined {
  const { ASSAY_MASKING_URL: url, ASSAY_MASKING_SECONDS, ASSAY_MASKING_FAILURE } = environment
  if (!url) {
    if (!token && !ASSAY_MASKING_SECONDS && !ASSAY_MASKING_FAILURE) return undefined
    throw invalid('ASSAY_MASKING_URL is missing, which says where the masker is')
  }
  if (!/^https?:\/\/[^\s#]+$/.test(url) || !URL.canParse(url)) {
    throw invalid(`ASSAY_MASKING_URL must be a URL such as http://127.0.0.1:9000/mask`)
  }
  const seconds = Number(ASSAY_MASKING_SECONDS || 2)
  if (!(seconds > 0 && seconds <= mostSeconds)) {
    throw invalid(`ASSAY_MASKING_SECONDS must be a number above 0 and up to ${mostSeconds}`)
  }
  const failure = maskerFailures.find((word) => word === (ASSAY_MASKING_FAILURE || 'refuse'))
  if (!failure) {
    throw invalid(`ASSAY_MASKING_FAILURE must be one of ${maskerFailures.join(', ')}`)
  }
  return { url, token, seconds, failure }
}

function invalid(message: string): AssayError {
  return new AssayError('CONFIG_INVALID', message)
}
