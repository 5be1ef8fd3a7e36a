import { Group, Stack, Text } from '@mantine/core'
import { useSession } from '../api/session.ts'
import { Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { AccountSection } from './account-section.tsx'

export function Memberships() {
  const { organizations } = useSession()
  return (
    <AccountSection
      id="organizations"
      title="Organizations"
      description="The organizations that you can open, with your role."
    >
      {organizations.length === 0 ? (
        <Text size="sm">You belong to no organization. Ask an Org admin for an invitation.</Text>
      ) : (
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {organizations.map(({ slug, name, role }) => (
            <Group key={slug} component="li" justify="space-between">
              <Link {...pages.home(slug)} size="sm" fw={500}>
                {name}
              </Link>
              <Text size="sm" c="dimmed">
                {role.name}
              </Text>
            </Group>
          ))}
        </Stack>
      )}
    </AccountSection>
  )
}
