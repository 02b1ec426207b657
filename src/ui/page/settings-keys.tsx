/** API keys: one's own, and for who may, those of others. */
import { useState } from 'preact/hooks'
import { FormDialog } from '../component/dialog.tsx'
import { Expiry } from '../component/expiry.tsx'
import { TextField, textOf } from '../component/field.tsx'
import { LineAction, ListTable } from '../component/list-table.tsx'
import { When } from '../component/when.tsx'
import { requestJson } from '../service/client.ts'
import { useLoaded } from '../service/load.ts'
import { listAll } from '../service/people.ts'
import { session } from '../service/session.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { NewSecret } from './new-secret.tsx'
import { Revoke } from './revoke.tsx'
import { SettingsList } from './settings-list.tsx'

interface ApiKey {
  readonly id: string
  readonly name: string
  readonly preview_name: string
  readonly user_id: string | null
  readonly user_email: string | null
  readonly user_given_name: string | null
  readonly created: string | null
  readonly used: string | null
  readonly expires_at: string | null
}

export function SettingsKeys() {
  const keys = useLoaded('api keys', (signal) => listAll<ApiKey>('/v1/api_key', signal))
  const [made, setMade] = useState<string>()
  const open = openedOf('new', 'revoke')
  const revoked = open?.kind === 'revoke' ? keys.data?.find(({ id }) => id === open.id) : undefined
  const own = session.value?.user.id
  return (
    <>
      <SettingsList
        title="API keys"
        hint="Programs use a key to act with your rights. Its text is shown once, when you create it."
        add={
          <button type="button" class="primary" onClick={() => openWindow('new')}>
            New key
          </button>
        }
        loaded={keys}
        empty="There are no keys yet"
      >
        {(items) => (
          <ListTable
            label="API keys"
            items={items}
            itemId={({ id }) => id}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              {
                title: 'Key',
                cell: ({ preview_name }) => <code class="whole">{preview_name}</code>,
              },
              {
                title: 'Of',
                cell: (key) =>
                  key.user_id === own ? 'you' : (key.user_email ?? key.user_given_name ?? ''),
              },
              { title: 'Created', cell: ({ created }) => <When at={created} /> },
              { title: 'Last used', cell: ({ used }) => <When at={used} never="never" /> },
              { title: 'Expires', cell: ({ expires_at }) => <Expiry at={expires_at} /> },
            ]}
            actions={(key) => (
              <LineAction
                verb="Revoke"
                of={key.name}
                onChoose={() => openWindow('revoke', key.id)}
              />
            )}
          />
        )}
      </SettingsList>
      {open?.kind === 'new' && (
        <FormDialog
          title="New API key"
          verb="Create"
          onClose={closeWindow}
          onSubmit={async (form) => {
            const body = { name: textOf(form, 'name') }
            const { key } = await requestJson<{ key: string }>('/v1/api_key', { body })
            closeWindow()
            setMade(key)
            keys.reload()
          }}
        >
          <TextField label="Name" name="name" isRequired isFirst placeholder="laptop" />
        </FormDialog>
      )}
      {revoked && <Revoke name={revoked.name} path="/v1/api_key" id={revoked.id} list={keys} />}
      {made !== undefined && (
        <NewSecret title="Your new key" text={made} onClose={() => setMade(undefined)} />
      )}
    </>
  )
}
