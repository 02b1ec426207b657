import { useState } from 'preact/hooks'
import { Mark } from '../component/icon.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { ServiceError } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { signIn } from '../service/session.ts'
import { findWays, type Ways } from '../service/ways.ts'
import { base } from '../state/location.ts'
import { offeredKey } from '../state/offered-key.ts'
import { leave } from '../state/returning.ts'

/** By the provider, by an API key, or by e-mail and password: what there is here. */
export function SignIn() {
  const { data: ways, error, reload } = useLoaded('ways', findWays)
  return (
    <main class="sign-in">
      <h1>
        <Mark /> Assay
      </h1>
      {ways ? (
        <ChosenWays ways={ways} />
      ) : error ? (
        <Failure error={error} retry={reload} />
      ) : (
        <Loading what="the ways to sign in" />
      )}
      <p class="hint">
        <a href={`${base}/docs`}>Documentation</a>
      </p>
    </main>
  )
}

function ChosenWays({ ways }: { readonly ways: Ways }) {
  const { provider, password } = ways
  // The operator's key signs in whatever else does: a link with #key leads to its form.
  const key = ways.key || offeredKey !== undefined
  return (
    <>
      {provider && <ByProvider {...provider} />}
      {provider && (password || key) && <p class="or">or</p>}
      {(password || key) && <ByForm hasKey={key} hasPassword={password} />}
    </>
  )
}

function ByProvider({ label, fault }: NonNullable<Ways['provider']>) {
  return (
    <>
      <a
        class="primary button"
        href={`${base}/session/openid`}
        onClick={leave}
        {...(fault !== null && { 'aria-describedby': 'provider-fault' })}
      >
        {label}
      </a>
      {fault !== null && (
        <div id="provider-fault" class="notice failure" role="alert">
          <p>{fault}</p>
          <p class="hint">Try again later. If it still fails, ask whoever runs this service.</p>
        </div>
      )}
    </>
  )
}

type Way = 'key' | 'password'

function ByForm({
  hasKey,
  hasPassword,
}: {
  readonly hasKey: boolean
  readonly hasPassword: boolean
}) {
  const [way, setWay] = useState<Way>(hasKey ? 'key' : 'password')
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const field = (name: string) => String(form.get(name) ?? '').trim()
    setBusy(true)
    setError(undefined)
    try {
      await signIn(
        way === 'key'
          ? { api_key: field('key') }
          : { email: field('email'), password: String(form.get('password') ?? '') },
      )
    } catch (thrown) {
      setError(refusal(thrown, way))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={submit}>
      {hasKey && hasPassword && (
        <div class="tabs" role="tablist">
          <WayTab name="API key" isChosen={way === 'key'} choose={() => setWay('key')} />
          <WayTab name="E-mail" isChosen={way === 'password'} choose={() => setWay('password')} />
        </div>
      )}
      {way === 'key' ? (
        <label>
          API key
          <input
            name="key"
            type="password"
            autocomplete="off"
            required
            placeholder="sk-…"
            defaultValue={offeredKey}
          />
        </label>
      ) : (
        <>
          <label>
            E-mail
            <input name="email" type="email" autocomplete="username" required />
          </label>
          <label>
            Password
            <input name="password" type="password" autocomplete="current-password" required />
          </label>
        </>
      )}
      <button type="submit" class="primary" disabled={isBusy}>
        Sign in
      </button>
      {error && <Failure error={error} />}
      {way === 'key' && (
        <p class="hint">
          The service printed the first key when it started for the first time.{' '}
          <code>assay keys</code> creates more.
        </p>
      )}
    </form>
  )
}

/** Said to a person, who knows of no headers. */
function refusal(thrown: unknown, way: Way): Error {
  if (thrown instanceof ServiceError && thrown.status === 401) {
    return new Error(
      way === 'key' ? 'This key is not known' : 'The e-mail or the password is not right',
    )
  }
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

function WayTab({
  name,
  isChosen,
  choose,
}: {
  readonly name: string
  readonly isChosen: boolean
  readonly choose: () => void
}) {
  return (
    <button type="button" role="tab" aria-selected={isChosen} onClick={choose}>
      {name}
    </button>
  )
}
