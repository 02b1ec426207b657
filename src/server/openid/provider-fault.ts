/** What goes wrong between this service and the provider, in words for who signs in and who runs the service. */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client'
import { AssayError } from '../../error.ts'

/** So far apart the clocks of the provider and of this service may be. */
export const clockToleranceSeconds = 60

const again = 'begin to sign in again'

export function providerFault(thrown: unknown, issuer: string): AssayError {
  const own = ownFault(thrown)
  if (own) return own
  if (thrown instanceof AuthorizationResponseError) {
    return answeredFault(thrown.error, thrown.error_description)
  }
  if (thrown instanceof ResponseBodyError) return tokenFault(thrown, issuer)
  if (thrown instanceof WWWAuthenticateChallengeError) return challengeFault(thrown, issuer)
  if (thrown instanceof ClientError) return clientFault(thrown, issuer)
  return unreachable(issuer, reasonOf(thrown), thrown)
}

/** Of `fetchFromProvider`, which the client wraps into errors of its own. */
function ownFault(thrown: unknown): AssayError | undefined {
  for (let cause = thrown, depth = 0; cause instanceof Error && depth < 5; depth++) {
    if (cause instanceof AssayError) return cause
    cause = cause.cause
  }
  return undefined
}

/** What the provider has told the browser in place of a code. */
function answeredFault(error: string, description: string | undefined): AssayError {
  const told = `${error}${description ? ` (${description.slice(0, 300)})` : ''}`
  switch (error) {
    case 'access_denied':
      return new AssayError('ACCESS_DENIED', `The provider has not let you in: ${told}`, {
        hint: 'sign in again, or have its administrator give your account access to this service',
      })
    case 'login_required':
    case 'interaction_required':
    case 'consent_required':
    case 'account_selection_required':
      return new AssayError('ACCESS_UNAUTHENTICATED', `The provider has not let you in: ${told}`, {
        hint: again,
      })
    case 'temporarily_unavailable':
    case 'server_error':
      return failed(`The provider cannot sign anybody in at the moment: ${told}`, 'try again later')
    default:
      return failed(
        `The provider has refused the request of this service: ${told}`,
        'have the operator of this service check the client id, the redirect URI and the scopes at the provider',
      )
  }
}

function tokenFault(thrown: ResponseBodyError, issuer: string): AssayError {
  const { error, error_description: description } = thrown
  const told = `${error}${description ? ` (${description.slice(0, 300)})` : ''}`
  if (error === 'invalid_grant') {
    return new AssayError(
      'ACCESS_UNAUTHENTICATED',
      `The provider does not take the code of this sign-in, which has been used or has expired: ${told}`,
      { hint: again, cause: thrown },
    )
  }
  if (error === 'invalid_client' || error === 'unauthorized_client')
    return wrongClient(issuer, told, thrown)
  return failed(`${issuer} has refused the request of this service: ${told}`, again, thrown)
}

function challengeFault(thrown: WWWAuthenticateChallengeError, issuer: string): AssayError {
  const [challenge] = thrown.cause
  const error = challenge?.parameters.error ?? `status ${thrown.status}`
  return wrongClient(issuer, error, thrown)
}

function wrongClient(issuer: string, told: string, cause: unknown): AssayError {
  return failed(
    `${issuer} does not accept the client id and secret of this service: ${told}`,
    'have the operator of this service set those that the provider has for it',
    cause,
  )
}

function clientFault(thrown: ClientError, issuer: string): AssayError {
  const detail = detailOf(thrown)
  switch (thrown.code) {
    case 'OAUTH_TIMEOUT':
      return unreachable(issuer, 'it has not answered in time', thrown)
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return failed(
        `The id_token of ${issuer} is not valid now: ${timesOf(thrown) ?? detail}`,
        `have the clocks of the provider and of this service set right; they may be ${clockToleranceSeconds} s apart`,
        thrown,
      )
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return failed(
        `What ${issuer} has sent is not for this sign-in: ${detail}`,
        `${again}; if that does not help, have the operator check --oidc-issuer and --oidc-client-id`,
        thrown,
      )
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
      return failed(
        `${issuer} has not answered as a provider of OpenID Connect: ${statusOf(thrown) ?? detail}`,
        'try again later; have the operator check --oidc-issuer',
        thrown,
      )
    default:
      return failed(`What ${issuer} has sent cannot be used: ${detail}`, again, thrown)
  }
}

function unreachable(issuer: string, reason: string, cause: unknown): AssayError {
  return failed(
    `The provider ${issuer} cannot be reached: ${reason}`,
    isOfCertificate(reason)
      ? 'have the operator of this service name the authority of its certificate by NODE_EXTRA_CA_CERTS'
      : 'try again later; if that does not help, have the operator of this service check --oidc-issuer',
    cause,
  )
}

/** By the codes of OpenSSL: `SELF_SIGNED_CERT_IN_CHAIN`, `UNABLE_TO_VERIFY_LEAF_SIGNATURE`, … */
function isOfCertificate(reason: string): boolean {
  return /CERT|UNABLE_TO_/.test(reason)
}

/** When the token ends or begins to be valid, and what time it is here. */
function timesOf(thrown: Error): string | undefined {
  const { claim, claims } = ((thrown.cause instanceof Error ? thrown.cause.cause : undefined) ??
    {}) as {
    readonly claim?: string
    readonly claims?: Readonly<Record<string, unknown>>
  }
  const seconds = claims?.[claim ?? '']
  if (typeof seconds !== 'number' || Math.abs(seconds) > 8.64e12) return undefined
  const at = new Date(seconds * 1000).toISOString()
  const now = new Date().toISOString()
  return `it ${claim === 'exp' ? 'ended' : 'begins'} at ${at}, and it is ${now} by the clock of this service`
}

/** What the innermost error says. Those of the client have no tokens and no codes in their messages. */
function detailOf(thrown: Error): string {
  let inner = thrown
  for (let depth = 0; inner.cause instanceof Error && depth < 5; depth++) inner = inner.cause
  return inner.message.slice(0, 300)
}

function statusOf({ cause }: ClientError): string | undefined {
  return cause instanceof Response ? `status ${cause.status}` : undefined
}

function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string'
    ? cause.code
    : cause.message.slice(0, 300)
}

function failed(message: string, hint: string, cause?: unknown): AssayError {
  return new AssayError('ACCESS_PROVIDER_FAILED', message, { hint, cause })
}
