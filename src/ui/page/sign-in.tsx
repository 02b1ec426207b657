import { useState } from 'preact/hooks'
import { Failure } from '../component/notice.tsx'
import { signIn } from '../service/session.ts'
import { offeredKey } from '../state/offered-key.ts'

/** By an API key, or by e-mail and password. */
export function SignIn() {
  const [way, setWay] = useState<'key' | 'password'>('key')
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
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <h1>Assay</h1>
      <form onSubmit={submit}>
        <div class="tabs" role="tablist">
          <Way name="API key" isChosen={way === 'key'} choose={() => setWay('key')} />
          <Way name="E-mail" isChosen={way === 'password'} choose={() => setWay('password')} />
        </div>
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
        <p class="hint">
          The first owner’s key was shown when the service was first started;{' '}
          <code>assay keys</code> makes others.
        </p>
      </form>
    </main>
  )
}

function Way({
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
