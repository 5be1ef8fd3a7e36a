import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconKey, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react'
import { ApiFormView, useApiForm } from '../actions/api-form.tsx'
import { FormProblem, useAttempt } from '../actions/attempt.tsx'
import { ConfirmForm, Dialog, useDialog } from '../actions/dialog.tsx'
import { notifyDone } from '../actions/notify.tsx'
import { createPasskey, passkeyObstacle } from '../actions/passkeys.ts'
import { api } from '../api/client.ts'
import { useApiMutation } from '../api/updates.ts'
import { deviceName } from '../page/device-name.ts'
import { AccountSection } from '../page/sections.tsx'
import { LineSkeleton, QueryView } from '../page/states.tsx'
import { Time } from '../page/time.tsx'

export function Passkeys() {
  const { mutateAsync: fetchOptions } = useApiMutation('post', '/app/api/account/passkeys/options', [])
  const { mutateAsync: addPasskey } = useApiMutation('post', '/app/api/account/passkeys', ['account'])
  const query = api.useQuery('get', '/app/api/account/passkeys')
  const { isBusy, problem, run } = useAttempt()
  const obstacle = passkeyObstacle()
  const add = async () => {
    const options = await fetchOptions({})
    if (!options.data) return
    const credential = await createPasskey(options.data)
    await addPasskey({ body: { name: deviceName(navigator.userAgent), credential } })
    notifyDone('The passkey was added.')
  }
  return (
    <AccountSection
      id="passkeys"
      title="Passkeys"
      description="Sign in with your fingerprint, face, PIN or security key. Nobody can steal a passkey from a server."
      actions={
        <Button
          variant="default"
          leftSection={<IconPlus size={16} aria-hidden />}
          disabled={obstacle !== null}
          loading={isBusy}
          onClick={() => run(add)}
        >
          Add a passkey
        </Button>
      }
    >
      <Stack gap="sm">
        <FormProblem problem={problem} />
        {obstacle && (
          <Text size="sm" c="dimmed">
            {obstacle}
          </Text>
        )}
        <QueryView query={query} of="passkeys" skeleton={<LineSkeleton lines={2} height={36} />}>
          {({ data }) =>
            data.length === 0 ? (
              <Text size="sm" c="dimmed">
                <IconKey size={16} aria-hidden style={{ verticalAlign: '-3px' }} /> You have no passkey yet.
              </Text>
            ) : (
              <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
                {data.map((passkey) => (
                  <PasskeyRow key={passkey.id} passkey={passkey} />
                ))}
              </Stack>
            )
          }
        </QueryView>
      </Stack>
    </AccountSection>
  )
}

type Passkey = { id: string; name: string; is_synced: boolean; created_at: string; last_used_at: string | null }

function PasskeyRow({ passkey }: { passkey: Passkey }) {
  const { mutateAsync: removePasskey } = useApiMutation('delete', '/app/api/account/passkeys/{id}', ['account'])
  const renaming = useDialog<true>()
  const removing = useDialog<true>()
  const { name, is_synced, created_at, last_used_at } = passkey
  const remove = async () => {
    await removePasskey({ params: { path: { id: passkey.id } } })
    notifyDone('The passkey was removed.')
  }
  return (
    <Group component="li" justify="space-between" wrap="nowrap">
      <Group gap="sm" wrap="nowrap">
        <IconKey size={18} aria-hidden style={{ flex: 'none' }} />
        <Stack gap={0}>
          <Text size="sm" fw={500}>
            {name}
          </Text>
          <Text size="xs" c="dimmed" component="div">
            Added <Time at={created_at} />,{' '}
            {last_used_at ? (
              <>
                last used <Time at={last_used_at} />
              </>
            ) : (
              'never used'
            )}
            {is_synced && ', synced to your other devices'}
          </Text>
        </Stack>
      </Group>
      <Group gap={4} wrap="nowrap">
        <ActionIcon variant="subtle" color="gray" aria-label={`Rename ${name}`} onClick={() => renaming.open(true)}>
          <IconPencil size={16} />
        </ActionIcon>
        <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${name}`} onClick={() => removing.open(true)}>
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
      <Dialog dialog={renaming} title="Rename passkey">
        {() => <RenameForm passkey={passkey} onDone={renaming.close} />}
      </Dialog>
      <Dialog dialog={removing} title="Remove passkey">
        {() => (
          <ConfirmForm confirmLabel="Remove passkey" send={remove} onClose={removing.close}>
            “{name}” can no longer sign in, and you are signed out everywhere else. Remove it from your device, too:
            this page cannot do that.
          </ConfirmForm>
        )}
      </Dialog>
    </Group>
  )
}

function RenameForm({ passkey, onDone }: { passkey: Passkey; onDone: () => void }) {
  const { mutateAsync: renamePasskey } = useApiMutation('patch', '/app/api/account/passkeys/{id}', ['account'])
  const rename = useApiForm({
    initialValues: { name: passkey.name },
    send: async (body) => {
      await renamePasskey({ params: { path: { id: passkey.id } }, body })
      onDone()
    },
  })
  return (
    <ApiFormView form={rename} submitLabel="Rename" onCancel={onDone}>
      <TextInput label="Name" maxLength={100} required data-autofocus {...rename.form.getInputProps('name')} />
    </ApiFormView>
  )
}
