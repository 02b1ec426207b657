/** What a person chooses for themselves, and how they sign in. */

import { useState } from 'preact/hooks'
import { Confirm } from '../component/dialog.tsx'
import { SwitchField, TextField, textOf } from '../component/field.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { tell } from '../component/toast.tsx'
import { useAction } from '../service/action.ts'
import { useLoaded } from '../service/load.ts'
import { changePassword, choose, session, signOutEverywhere } from '../service/session.ts'
import { findWays } from '../service/ways.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'

export function SettingsYou() {
  const { user, preferences } = session.value ?? {}
  const { data: ways, isLoading } = useLoaded('ways', findWays)
  const [wanted, setWanted] = useState(true)
  const switching = useAction((query_language: boolean) => {
    setWanted(query_language)
    return choose({ query_language })
  })
  // What comes between two others would push one of them away.
  if (!ways && isLoading) return <Loading what="your settings" />
  return (
    <>
      <section class="settings-part" aria-label="Search">
        <h2>Search</h2>
        <SwitchField
          label="Run queries typed into the search box"
          isOn={switching.isBusy ? wanted : (preferences?.query_language ?? true)}
          onChange={(isOn) => void switching.run(isOn)}
          hint="On: a query that you type runs as a query, and anything else is searched for as words. Off: everything is searched for as words."
        />
        {switching.error && <Failure error={switching.error} />}
      </section>
      {user?.email != null && ways?.password && <PasswordForm email={user.email} />}
      <section class="settings-part" aria-label="Sessions">
        <h2>Sessions</h2>
        <p class="hint">
          You stay signed in for up to 14 days in each browser. Signing out everywhere ends all of
          your sessions in this organization, including this one.
        </p>
        <button type="button" onClick={() => openWindow('leave')}>
          Sign out everywhere
        </button>
      </section>
      {openedOf('leave') && (
        <Confirm
          title="Sign out everywhere?"
          verb="Sign out"
          onConfirm={signOutEverywhere}
          onClose={closeWindow}
        >
          <p>API keys go on working.</p>
        </Confirm>
      )}
    </>
  )
}

/** The service takes no shorter ones. */
const shortestPassword = 10

function PasswordForm({ email }: { readonly email: string }) {
  const { run, isBusy, error } = useAction(async (element: HTMLFormElement) => {
    const form = new FormData(element)
    const password = String(form.get('password') ?? '')
    if (password !== String(form.get('again') ?? '')) {
      throw new Error('The two new passwords differ')
    }
    await changePassword(password, textOf(form, 'current'))
    element.reset()
    tell('The password is changed; your other sessions are ended')
  })
  return (
    <section class="settings-part" aria-label="Password">
      <h2>Password</h2>
      <form
        class="fields narrow"
        onSubmit={(event) => {
          event.preventDefault()
          void run(event.currentTarget)
        }}
      >
        <input type="hidden" name="username" autocomplete="username" value={email} />
        <TextField
          label="Current password"
          name="current"
          type="password"
          autocomplete="current-password"
          hint="Leave it empty if you have none yet."
        />
        <TextField
          label="New password"
          name="password"
          type="password"
          autocomplete="new-password"
          minLength={shortestPassword}
          isRequired
          hint={`At least ${shortestPassword} characters. With it you sign in as ${email}.`}
        />
        <TextField
          label="New password again"
          name="again"
          type="password"
          autocomplete="new-password"
          isRequired
        />
        {error && <Failure error={error} />}
        <div>
          <button type="submit" disabled={isBusy}>
            Change the password
          </button>
        </div>
      </form>
    </section>
  )
}
