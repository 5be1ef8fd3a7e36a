import { ActionIcon, Avatar, Badge, Group, Menu, Stack, Text } from '@mantine/core'
import {
  IconBan,
  IconCircleCheck,
  IconDotsVertical,
  IconGitBranch,
  IconUserMinus,
  IconUserShield,
} from '@tabler/icons-react'
import type { Column } from '../../list/data-list.tsx'
import { ToneBadge } from '../../page/badges.tsx'
import { Time } from '../../page/time.tsx'
import classes from './member-columns.module.css'
import type { useMemberDialogs } from './member-dialogs.tsx'
import { accountsText, type Member } from './member-dialogs.tsx'

type Dialogs = ReturnType<typeof useMemberDialogs>

export function memberColumns(ownId: string, dialogs: Dialogs): Column<Member>[] {
  return [
    {
      key: 'name',
      header: 'Member',
      width: 'minmax(0, 2fr)',
      cell: (member) => <Person member={member} isOwn={member.user_id === ownId} />,
    },
    { key: 'role', header: 'Role', width: 'minmax(0, 1fr)', cell: ({ role_name }) => role_name },
    {
      key: 'accounts',
      header: 'Code hosts',
      width: 'minmax(0, 1fr)',
      from: 'md',
      cell: (member) => (
        <Text size="sm" lineClamp={2} c={member.provider_accounts.length > 0 ? undefined : 'dimmed'}>
          {accountsText(member) || 'Not set'}
        </Text>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      width: '6.5rem',
      from: 'xs',
      cell: ({ status }) =>
        status === 'active' ? (
          <ToneBadge tone="success" icon={IconCircleCheck}>
            Active
          </ToneBadge>
        ) : (
          <ToneBadge tone="neutral" icon={IconBan}>
            Disabled
          </ToneBadge>
        ),
    },
    { key: 'joined', header: 'Joined', width: '7.5rem', from: 'lg', cell: ({ joined_at }) => <Time at={joined_at} /> },
    {
      key: 'actions',
      header: 'Actions',
      width: '4rem',
      align: 'end',
      cell: (member) => <MemberMenu member={member} isOwn={member.user_id === ownId} dialogs={dialogs} />,
    },
  ]
}

function Person({ member: { name, email }, isOwn }: { member: Member; isOwn: boolean }) {
  return (
    <Group gap="sm" wrap="nowrap">
      <Avatar name={name} size={30} className={classes.avatar} aria-hidden />
      <Stack gap={0} miw={0}>
        <Group gap={6} wrap="nowrap">
          <Text size="sm" fw={500} lineClamp={1}>
            {name}
          </Text>
          {isOwn && (
            <Badge size="xs" variant="default">
              You
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed" lineClamp={1}>
          {email}
        </Text>
      </Stack>
    </Group>
  )
}

/** Nobody changes, disables or removes themselves: another member with the permission does. */
function MemberMenu({ member, isOwn, dialogs }: { member: Member; isOwn: boolean; dialogs: Dialogs }) {
  const { name, status } = member
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Actions for ${name}`}>
          <IconDotsVertical size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isOwn && <Menu.Label>Another admin changes your own role.</Menu.Label>}
        <Menu.Item
          leftSection={<IconUserShield size={15} />}
          disabled={isOwn}
          onClick={() => dialogs.role.open(member)}
        >
          Change role
        </Menu.Item>
        <Menu.Item leftSection={<IconGitBranch size={15} />} onClick={() => dialogs.account.open(member)}>
          Set code host account
        </Menu.Item>
        <Menu.Divider />
        {status === 'active' ? (
          <Menu.Item leftSection={<IconBan size={15} />} disabled={isOwn} onClick={() => dialogs.disable.open(member)}>
            Disable
          </Menu.Item>
        ) : (
          <Menu.Item
            leftSection={<IconCircleCheck size={15} />}
            disabled={isOwn}
            onClick={() => dialogs.enable(member)}
          >
            Enable
          </Menu.Item>
        )}
        <Menu.Item
          leftSection={<IconUserMinus size={15} />}
          className={classes.danger}
          disabled={isOwn}
          onClick={() => dialogs.remove.open(member)}
        >
          Remove from organization
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
