import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconLogin2 } from '@tabler/icons-react'
import { useOrganization } from '../../api/session.ts'
import { CopyField } from '../../page/copy-field.tsx'
import { formatAddress, pages } from '../../page/pages.ts'

/** Tries the provider: as oneself, or in a private window as somebody else. */
export function SsoTest() {
  const { slug: org } = useOrganization()
  const next = formatAddress(pages.singleSignOn(org))
  const start = `/app/api/sso/start?${new URLSearchParams({ org, next })}`
  return (
    <Paper p="md">
      <Stack gap="sm">
        <Title order={2}>Test sign-in</Title>
        <Text size="sm">
          Opens the sign-in page of the provider, and brings you back here. It connects your account with the provider,
          and continues in a session that opens only this organization. What goes wrong is shown on the sign-in page.
        </Text>
        <Group>
          <Button component="a" href={start} variant="default" leftSection={<IconLogin2 size={16} aria-hidden />}>
            Test sign-in
          </Button>
        </Group>
        <CopyField
          label="Sign-in address"
          description="For a private window, and for members of the organization."
          value={`${location.origin}/sign-in?org=${org}`}
        />
      </Stack>
    </Paper>
  )
}
