/** How people may sign in at the web page, as the operator has said: read from flags and the environment. */
import { readFileSync } from 'node:fs'
import { AssayError } from '../error.ts'
import { fileFault } from '../storage/directory/file-fault.ts'

export interface SignInSettings {
  /** Whether passwords open sessions. */
  readonly password: boolean
  /** Whether API keys do. That of the operator always does. */
  readonly key: boolean
  readonly openId: OpenIdSettings | undefined
}

/** Sign-in by a provider of OpenID Connect. */
export interface OpenIdSettings {
  /** As it was given: some end with a slash. */
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client, which has PKCE alone. */
  readonly clientSecret: string | undefined
  readonly scope: string
  /** What the button says. */
  readonly label: string
  /** Name of the claim that has a person's groups; undefined where the provider is not asked for them. */
  readonly groupsClaim: string | undefined
  /** Names of groups here, by a name that the provider has. */
  readonly groups: ReadonlyMap<string, readonly string[]>
  /** A name that the claim must have for anybody who signs in. */
  readonly requiredGroup: string | undefined
  /** Domains of addresses, in lower case, whose people need no invitation. */
  readonly joinDomains: readonly string[]
  /** Names of groups for who joins without an invitation. */
  readonly newMemberGroups: readonly string[]
  /** Addresses, in lower case, of who becomes an owner by signing in for the first time. */
  readonly owners: readonly string[]
  /** Whether an address counts as verified where the provider does not say whether it is. */
  readonly isTrustingEmails: boolean
  /** How long a session lasts before the provider is asked again. */
  readonly sessionSeconds: number
  /** Name of the organization that people join; undefined for the oldest. */
  readonly organization: string | undefined
}

/** A setting with where it was found. */
interface Setting {
  readonly source: string
  readonly text: string | undefined
}

export interface SignInFlags {
  readonly passwordSignIn?: string
  readonly keySignIn?: string
  readonly oidcIssuer?: string
  readonly oidcClientId?: string
  readonly oidcClientSecretFile?: string
  readonly oidcScopes?: string
  readonly oidcLabel?: string
  readonly oidcGroupsClaim?: string
  readonly oidcGroups?: string
  readonly oidcRequiredGroup?: string
  readonly oidcJoinDomains?: string
  readonly oidcNewMemberGroups?: string
  readonly oidcOwners?: string
  readonly oidcTrustEmails?: string
  readonly oidcSessionHours?: string
  readonly oidcOrganization?: string
}

const defaultScope = 'openid email profile'
const defaultLabel = 'Single sign-on'
const defaultSessionHours = 24
const mostSessionHours = 10_000

/** @param setting reads a flag, or else the environment variable of its name */
export function readSignInSettings(
  setting: (flag: keyof SignInFlags, name: string, variable: string) => Setting,
  environment: NodeJS.ProcessEnv,
): SignInSettings {
  const read = (flag: keyof SignInFlags): Setting => setting(flag, ...namesOf(flag))
  const password = onOrOff(read('passwordSignIn'), true)
  const key = onOrOff(read('keySignIn'), password)
  const openId = readOpenId(read, environment.ASSAY_OIDC_CLIENT_SECRET || undefined)
  if (!password && !key && !openId) {
    throw invalid(
      `${read('passwordSignIn').source} is off and no provider is set, so that nobody could sign in`,
      'set ASSAY_OIDC_ISSUER, or leave keys on with --key-sign-in on',
    )
  }
  return { password, key, openId }
}

/** `oidcClientId` is `--oidc-client-id` and `ASSAY_OIDC_CLIENT_ID`. */
function namesOf(flag: string): [name: string, variable: string] {
  const words = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return [`--${words}`, `ASSAY_${words.toUpperCase().replaceAll('-', '_')}`]
}

function readOpenId(
  read: (flag: keyof SignInFlags) => Setting,
  givenSecret: string | undefined,
): OpenIdSettings | undefined {
  const issuer = read('oidcIssuer')
  const clientId = read('oidcClientId')
  if (issuer.text === undefined && clientId.text === undefined) return undefined
  if (issuer.text === undefined || clientId.text === undefined) {
    throw invalid(
      '--oidc-issuer and --oidc-client-id go together: the provider, and the name that this service has there',
    )
  }
  const settings: OpenIdSettings = {
    issuer: issuerUrl(issuer.source, issuer.text),
    clientId: clientId.text,
    clientSecret: clientSecret(read('oidcClientSecretFile'), givenSecret),
    scope: scope(read('oidcScopes')),
    label: read('oidcLabel').text ?? defaultLabel,
    groupsClaim: read('oidcGroupsClaim').text,
    groups: groupMap(read('oidcGroups')),
    requiredGroup: read('oidcRequiredGroup').text,
    joinDomains: domains(read('oidcJoinDomains')),
    newMemberGroups: listed(read('oidcNewMemberGroups').text),
    owners: addresses(read('oidcOwners')),
    isTrustingEmails: onOrOff(read('oidcTrustEmails'), false),
    sessionSeconds: sessionHours(read('oidcSessionHours')) * 3600,
    organization: read('oidcOrganization').text,
  }
  requireGroupsClaim(read, settings)
  return settings
}

/** What asks for groups would ask in vain. */
function requireGroupsClaim(
  read: (flag: keyof SignInFlags) => Setting,
  { groupsClaim, requiredGroup, groups }: OpenIdSettings,
): void {
  if (groupsClaim !== undefined || (requiredGroup === undefined && groups.size === 0)) return
  const { source } = read(requiredGroup === undefined ? 'oidcGroups' : 'oidcRequiredGroup')
  throw invalid(
    `${source} needs the name of the claim that has a person's groups`,
    'set --oidc-groups-claim, which is "groups" at most providers',
  )
}

/**
 * Only what is sent encrypted, or stays on the machine. A provider that stands for many at once, whose
 * addresses anybody may choose, is none of ours.
 */
function issuerUrl(source: string, text: string): string {
  const example =
    'give a URL such as https://login.example.com, as its document of discovery has it'
  if (!URL.canParse(text) || /[\s?#]/.test(text)) {
    throw invalid(`${source} must be a URL without a query, not "${text.slice(0, 100)}"`, example)
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw invalid(`${source} must have no password in it`, example)
  if (!isFetchable(url)) {
    throw invalid(
      `${source} must begin with https://, not "${text.slice(0, 100)}"`,
      'http:// is for providers on this machine alone: localhost, 127.0.0.1 or [::1]',
    )
  }
  const isOfMany =
    url.hostname === 'login.microsoftonline.com' &&
    /^\/(common|organizations|consumers)\//.test(`${url.pathname}/`)
  if (isOfMany) {
    throw invalid(
      `${source} names no tenant, so that anybody with an account of any tenant could sign in`,
      'put the id of your tenant in the place of common, organizations or consumers',
    )
  }
  return text
}

/** Whether a URL of the provider may be asked: over TLS, or on this machine. */
export function isFetchable({ protocol, hostname }: URL): boolean {
  const isHere =
    hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isHere)
}

/** No flag has the secret itself: whoever sees the command line would see it. */
function clientSecret(
  { source, text: path }: Setting,
  given: string | undefined,
): string | undefined {
  if (path === undefined) return given
  if (given !== undefined) {
    throw invalid(`${source} and ASSAY_OIDC_CLIENT_SECRET are both set`, 'leave one of them out')
  }
  let secret: string
  try {
    secret = readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw fileFault(cause, `${source}: cannot read ${path}`, 'CONFIG_INVALID') ?? cause
  }
  if (secret === '') throw invalid(`${source}: ${path} is empty`, 'write the secret into it')
  return secret
}

function scope({ source, text }: Setting): string {
  const scopes = (text ?? defaultScope).split(/[\s,]+/).filter((one) => one !== '')
  if (scopes.includes('openid')) return scopes.join(' ')
  throw invalid(`${source} must have "openid" among the scopes`, `the default is "${defaultScope}"`)
}

/** `staff=Engineers,ops=Owners`, or as a JSON object where names have commas or equals signs in them. */
function groupMap({ source, text }: Setting): Map<string, string[]> {
  const map = new Map<string, string[]>()
  for (const [theirs, ours] of pairs(source, text)) {
    map.set(theirs, [...(map.get(theirs) ?? []), ours])
  }
  return map
}

function pairs(source: string, text = ''): (readonly [string, string])[] {
  const wrong = () =>
    invalid(
      `${source} must be pairs such as "staff=Engineers,ops=Owners"`,
      'the name at the provider, then that of the group here; or a JSON object of texts: {"CN=ops,OU=it":"Owners"}',
    )
  if (!text.trimStart().startsWith('{')) {
    return listed(text).map((pair) => {
      const [theirs = '', ours = '', ...more] = pair.split('=').map((part) => part.trim())
      if (theirs === '' || ours === '' || more.length > 0) throw wrong()
      return [theirs, ours] as const
    })
  }
  let object: object
  try {
    object = JSON.parse(text) as object
  } catch {
    throw wrong()
  }
  return Object.entries(object).map(([theirs, ours]) => {
    if (typeof ours !== 'string' || ours === '') throw wrong()
    return [theirs, ours] as const
  })
}

function domains({ source, text }: Setting): string[] {
  return listed(text).map((given) => {
    const domain = given.replace(/^@/, '').toLowerCase()
    if (/^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u.test(domain)) return domain
    throw invalid(
      `${source} must be domains such as example.com, not "${given.slice(0, 100)}"`,
      'each is named by itself: those below it do not count',
    )
  })
}

function addresses({ source, text }: Setting): string[] {
  return listed(text).map((given) => {
    if (/^[^\s@]+@[^\s@]+$/.test(given)) return given.toLowerCase()
    throw invalid(`${source} must be e-mail addresses, not "${given.slice(0, 100)}"`)
  })
}

function sessionHours({ source, text }: Setting): number {
  if (text === undefined) return defaultSessionHours
  const hours = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (hours >= 1 && hours <= mostSessionHours) return hours
  throw invalid(
    `${source} must be a whole number from 1 to ${mostSessionHours}, not "${text.slice(0, 100)}"`,
  )
}

function onOrOff({ source, text }: Setting, fallback: boolean): boolean {
  if (text === undefined) return fallback
  const given = text.toLowerCase()
  if (given === 'on' || given === 'off') return given === 'on'
  throw invalid(`${source} must be on or off, not "${text.slice(0, 100)}"`)
}

function listed(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function invalid(fault: string, hint?: string): AssayError {
  return new AssayError('CONFIG_INVALID', fault, hint === undefined ? {} : { hint })
}
