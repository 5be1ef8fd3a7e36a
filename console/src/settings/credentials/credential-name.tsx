import { Stack, Text } from '@mantine/core'
import { Time } from '../../page/time.tsx'

type CredentialNameProps = {
  credential: { name: string; created_by: string; created_at: string }
  /** The name is cut off after these lines. */
  lines: number
}

/** The name of an API key or an OIDC trust, with who created it and when. */
export function CredentialName({ credential: { name, created_by, created_at }, lines }: CredentialNameProps) {
  return (
    <Stack gap={0}>
      <Text size="sm" fw={500} lineClamp={lines}>
        {name}
      </Text>
      <Text size="xs" c="dimmed" lineClamp={1} component="div">
        {created_by} · <Time at={created_at} />
      </Text>
    </Stack>
  )
}
