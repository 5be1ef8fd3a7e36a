import { Button, Group, Stack, Text } from '@mantine/core'
import { ConfirmForm } from '../../actions/confirm-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { ButtonLink } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { ROLES_PATH, type Role } from './role-query.ts'

/** Deletes a role that nobody has, or says who has it. */
export function DeleteRole({ role, onClose }: { role: Role; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: deleteRole } = useApiMutation('delete', `${ROLES_PATH}/{id}`, ['role'])
  const { id, name, members } = role
  if (members > 0)
    return (
      <Stack>
        <Text size="sm">
          {formatCount(members)} {members === 1 ? 'member has' : 'members have'} the role {name}. Give them another role
          first.
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <ButtonLink {...pages.members(org)} search={{ role: id }} variant="filled">
            Show members
          </ButtonLink>
        </Group>
      </Stack>
    )
  const send = async () => {
    await deleteRole({ params: { path: { org, id } } })
    notifyDone(`Deleted the role ${name}.`)
  }
  return (
    <ConfirmForm confirmLabel="Delete role" send={send} onClose={onClose}>
      The role {name} can no longer be given. Nobody has it now. An open invitation with the role prevents this: revoke
      the invitation first.
    </ConfirmForm>
  )
}
