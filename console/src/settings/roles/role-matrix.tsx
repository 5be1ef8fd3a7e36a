import { ActionIcon, Group, Menu, Stack, Table, Text } from '@mantine/core'
import { IconCheck, IconDotsVertical, IconMinus } from '@tabler/icons-react'
import { type Permission, useOrganization } from '../../api/session.ts'
import { Link } from '../../page/link.tsx'
import { PERMISSION_NAMES } from '../../page/names.ts'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import classes from './role-matrix.module.css'
import type { Role } from './role-select.tsx'

/** What somebody with the permission can do, in the order of the matrix (console.md §2). */
export const PERMISSION_TEXTS: Record<Permission, string> = {
  view: 'See runs, deployments, compliance, findings, issues, alerts and provenance.',
  upload_security_reports: 'Upload reports of scanners and SBOMs.',
  triage: 'Dismiss, reopen, split and merge findings and issues.',
  answer_deployment_gates: 'Approve and reject deployments.',
  override_compliance: 'Let a deployment through that a policy blocks, with a reason.',
  manage_gates: 'Decide which deployments wait, and for what.',
  manage_policies: 'Write, try, apply and delete policies.',
  read_audit_log: 'See and export who changed what.',
  manage_integrations: 'Create API keys and OIDC trusts, connect code hosts.',
  manage_members: 'Invite people, change roles, set up single sign-on.',
}

export const PERMISSIONS = Object.keys(PERMISSION_TEXTS) as Permission[]

type RoleMatrixProps = { roles: Role[]; onEdit: (role: Role) => void; onDelete: (role: Role) => void }

/** Roles beside each other: one row for each permission. */
export function RoleMatrix({ roles, onEdit, onDelete }: RoleMatrixProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus
    <section className={classes.scroll} tabIndex={0} aria-label="Permissions of the roles">
      <Table className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className={classes.permission}>Permission</Table.Th>
            {roles.map((role) => (
              <Table.Th key={role.id} scope="col" className={classes.role}>
                <RoleHead role={role} onEdit={onEdit} onDelete={onDelete} />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {PERMISSIONS.map((permission) => (
            <Table.Tr key={permission}>
              <Table.Th scope="row" className={classes.permission}>
                <Text size="sm" fw={500}>
                  {PERMISSION_NAMES[permission]}
                </Text>
                <Text size="xs" c="dimmed" fw={400} visibleFrom="sm">
                  {PERMISSION_TEXTS[permission]}
                </Text>
              </Table.Th>
              {roles.map(({ id, permissions }) => (
                <Table.Td key={id} className={classes.cell}>
                  {permissions.includes(permission) ? (
                    <IconCheck size={17} role="img" aria-label="Yes" className={classes.yes} />
                  ) : (
                    <IconMinus size={15} role="img" aria-label="No" className={classes.no} />
                  )}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

function RoleHead({ role, onEdit, onDelete }: { role: Role } & Omit<RoleMatrixProps, 'roles'>) {
  const { slug: org, role: own } = useOrganization()
  const { id, name, members, built_in } = role
  return (
    <Stack gap={2} align="center">
      <Group gap={2} wrap="nowrap" justify="center">
        <Text size="sm" fw={500} ta="center" lineClamp={3}>
          {name}
        </Text>
        {!built_in && (
          <Menu position="bottom-end" width={200}>
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" size="md" aria-label={`Actions for ${name}`}>
                <IconDotsVertical size={16} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {id === own.id && <Menu.Label>This is your role: another admin changes it.</Menu.Label>}
              <Menu.Item disabled={id === own.id} onClick={() => onEdit(role)}>
                Edit role
              </Menu.Item>
              <Menu.Item className={classes.danger} disabled={id === own.id} onClick={() => onDelete(role)}>
                Delete role
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
      <Link {...pages.members(org)} search={{ role: id }} size="xs" fw={400}>
        {formatCount(members)} {members === 1 ? 'member' : 'members'}
      </Link>
    </Stack>
  )
}
