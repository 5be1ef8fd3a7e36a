import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconMail } from '@tabler/icons-react'
import type { paths } from '../../api/schema.ts'
import { CopyField } from '../../page/copy-field.tsx'
import { formatTime } from '../../page/time.tsx'

type Made = paths['/app/api/orgs/{org}/invitations']['post']['responses'][201]['content']['application/json']
export type NewInvitation = Made['data']

/** What came of an invitation: a link to pass on, or a mail. */
export function ShownInvitation({ invitation, onClose }: { invitation: NewInvitation; onClose: () => void }) {
  const { email, role_name, link, expires_at } = invitation
  return (
    <Stack>
      {link === null ? (
        <MailOutcome invitation={invitation} />
      ) : (
        <>
          <Text size="sm">
            This server sends no mail. Give this link to {email}, over a channel that only they read.
          </Text>
          <CopyField label="Invitation link" value={link} />
        </>
      )}
      <Text size="sm" c="dimmed">
        They join as {role_name}. The link works once, until {formatTime(expires_at)}
        {link !== null && ', and is shown only now'}.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}

function MailOutcome({ invitation: { email, mail } }: { invitation: NewInvitation }) {
  if (mail === 'failed')
    return (
      <Alert color="red" icon={<IconAlertTriangle />} title="The mail could not be sent" role="alert">
        The mail server did not take the message to {email}. The invitation is stored: send it again later.
      </Alert>
    )
  return (
    <Group gap="xs" wrap="nowrap">
      <IconMail size={18} aria-hidden />
      <Text size="sm">The link was mailed to {email}.</Text>
    </Group>
  )
}
