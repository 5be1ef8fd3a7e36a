import { ActionIcon, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconKey, IconPencil, IconTrash } from '@tabler/icons-react'
import { ApiFormView } from '../actions/api-form.tsx'
import { ConfirmForm } from '../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../actions/dialog.tsx'
import { notifyDone } from '../actions/notify.tsx'
import { useApiForm } from '../actions/use-api-form.ts'
import { useApiMutation } from '../api/updates.ts'
import { Time } from '../page/time.tsx'

type Passkey = { id: string; name: string; is_synced: boolean; created_at: string; last_used_at: string | null }

export function PasskeyRow({ passkey }: { passkey: Passkey }) {
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
