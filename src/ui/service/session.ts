/** Who is signed in. The session itself is in a cookie that scripts cannot read. */
import { signal } from '@preact/signals'
import { comeBack } from '../state/returning.ts'
import { onUnauthenticated, requestJson, ServiceError, setChangeToken } from './client.ts'

/** What somebody has chosen for themselves. */
export interface Preferences {
  /** Whether the search input takes queries as they are written; if not, all is words. */
  readonly query_language: boolean
}

export interface Session {
  readonly user: {
    readonly id: string
    readonly email: string | null
    readonly given_name: string | null
    readonly family_name: string | null
  }
  readonly organization: { readonly id: string; readonly name: string }
  readonly preferences: Preferences
  /** Sent with every change. */
  readonly change_token: string
}

export type Credentials =
  | { readonly api_key: string }
  | { readonly email: string; readonly password: string }

/** `undefined` until it is known; null when nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined)

/** What is loaded without a session shows that it has ended; forms stay, with what was written into them. */
onUnauthenticated(() => {
  if (session.value) void findSession()
})

function begin(next: Session | null): void {
  setChangeToken(next?.change_token)
  session.value = next
  if (next) comeBack()
}

export async function findSession(): Promise<void> {
  try {
    begin(await requestJson<Session>('/session'))
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) throw thrown
    begin(null)
  }
}

/** Throws a `ServiceError` for credentials that are not right. */
export async function signIn(credentials: Credentials): Promise<void> {
  begin(await requestJson<Session>('/session', { body: credentials }))
}

export async function signOut(): Promise<void> {
  end(await requestJson<Ended>('/session', { method: 'DELETE' }))
}

export async function signOutEverywhere(): Promise<void> {
  end(await requestJson<Ended>('/session/all', { method: 'DELETE' }))
}

interface Ended {
  /** Where the browser goes to sign out at the provider, too. */
  readonly provider_url: string | null
}

function end({ provider_url }: Ended): void {
  if (provider_url === null) begin(null)
  else window.location.assign(provider_url)
}

/** Ends the person's other sessions; this one goes on under another cookie. */
export async function changePassword(password: string, current: string): Promise<void> {
  const body = { password, ...(current !== '' && { current_password: current }) }
  begin(await requestJson<Session>('/session/password', { method: 'PUT', body }))
}

export async function choose(preferences: Preferences): Promise<void> {
  const chosen = await requestJson<Preferences>('/session/preferences', {
    method: 'PATCH',
    body: preferences,
  })
  if (session.value) session.value = { ...session.value, preferences: chosen }
}

/** Whether the person wants texts of searches to be taken for queries where they can be. */
export function takesQueries(): boolean {
  return session.value?.preferences.query_language ?? true
}
